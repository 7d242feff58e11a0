// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/text/report.hpp"

#include <cmath>

namespace parshall {

LossRatio loss_ratio(std::uint64_t lost, std::uint64_t offered) noexcept {
  if (offered == 0) return {};
  const double n = static_cast<double>(offered), p = static_cast<double>(lost) / n;
  if (lost == 0) return {0, std::fmin(1, 3 / n)};
  constexpr double kZ = 1.6448536269514722;  // one-sided 95 %
  const double centre = p + kZ * kZ / (2 * n);
  const double spread = kZ * std::sqrt(p * (1 - p) / n + kZ * kZ / (4 * n * n));
  return {p, std::fmin(1, (centre + spread) / (1 + kZ * kZ / n))};
}

}  // namespace parshall
