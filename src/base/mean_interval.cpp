// SPDX-License-Identifier: Apache-2.0
#include "base/mean_interval.hpp"

#include <cmath>

namespace parshall {

double student_t_975(std::size_t degrees) noexcept {
  constexpr double kTable[] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281};
  if (degrees <= std::size(kTable)) return kTable[degrees - 1];
  constexpr double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  const auto n = static_cast<double>(degrees);
  return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

MeanInterval mean_interval(std::span<const double> samples) noexcept {
  if (samples.empty()) return {};
  const auto count = static_cast<double>(samples.size());
  double sum = 0, squares = 0;
  for (const double sample : samples) sum += sample - samples.front();  // else equal samples differ from the mean
  const double mean = samples.front() + sum / count;
  if (samples.size() == 1) return {.mean = mean};
  for (const double sample : samples) squares += (sample - mean) * (sample - mean);
  const double deviation = std::sqrt(squares / (count - 1));
  return {.mean = mean,
          .half_width = student_t_975(samples.size() - 1) * deviation / std::sqrt(count),
          .deviation = deviation};
}

ShareInterval share_interval(std::uint64_t hits, std::uint64_t trials) noexcept {
  constexpr double kZ = 1.959963984540054, kSquare = kZ * kZ;
  if (trials == 0) return {};
  const double n = static_cast<double>(trials), share = static_cast<double>(hits) / n;
  const double centre = share + kSquare / (2 * n);
  const double spread = kZ * std::sqrt(share * (1 - share) / n + kSquare / (4 * n * n));
  return {.low = std::fmax(0, (centre - spread) / (1 + kSquare / n)),
          .high = std::fmin(1, (centre + spread) / (1 + kSquare / n))};
}

}  // namespace parshall
