// SPDX-License-Identifier: Apache-2.0
#include "tester/interval.hpp"

#include <algorithm>
#include <cmath>

namespace parshall::tester {

std::optional<Ratio> ratio_of(std::uint64_t part, std::uint64_t whole, Confidence confidence) noexcept {
  if (whole == 0 || part > whole) return std::nullopt;
  const double z = confidence == Confidence::percent_95 ? 1.959963984540054 : 2.575829303548901;
  const auto n = static_cast<double>(whole);
  const double p = static_cast<double>(part) / n;
  const double middle = p + z * z / (2 * n);
  const double half_width = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  const double scale = 1 + z * z / n;
  return Ratio{.value = p,
               .low = part == 0 ? 0 : std::max(0.0, (middle - half_width) / scale),
               .high = part == whole ? 1 : std::min(1.0, (middle + half_width) / scale)};
}

}  // namespace parshall::tester
