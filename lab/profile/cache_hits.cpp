// SPDX-License-Identifier: Apache-2.0
#include "lab/profile/cache_hits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace parshall::lab {
namespace {

constexpr double kMostMistaken = 0.25;  ///< at this value the correction doubles the standard error

/// Returns the last time that is a hit by the paper's rule. At the lower of the medians the two distributions sum to at
/// most 1, at the higher to at least 1.
double threshold_of(const RetrievalModel& hit, const RetrievalModel& miss) noexcept {
  auto [low, high] = std::minmax({hit.quantile(0.5), miss.quantile(0.5)});
  for (;;) {
    const double middle = low + (high - low) / 2;
    if (!(low < middle && middle < high)) return low;
    (hit.survival(middle) >= miss.cdf(middle) ? low : high) = middle;
  }
}

}  // namespace

Result<CacheHits> CacheHits::make(const RetrievalModel& hit, const RetrievalModel& miss) {
  if (hit.mean() >= miss.mean())
    return Error{fmt::format(
        "cannot tell cache hits from misses: a hit takes {:.4g} ns and a miss {:.4g}; measure misses with more flows",
        hit.mean(), miss.mean())};
  const double threshold_ns = threshold_of(hit, miss);
  const double mistaken_share = miss.cdf(threshold_ns);
  if (!(mistaken_share < kMostMistaken))
    return Error{
        fmt::format("cannot tell cache hits from misses: with a threshold of {1:.4g} ns, {0:.2g} of each would be "
                    "classified wrongly; less than {2} is needed; measure misses with more flows",
                    mistaken_share, threshold_ns, kMostMistaken)};
  return CacheHits(threshold_ns, mistaken_share);
}

std::optional<CacheHits::Estimate> CacheHits::estimate() const noexcept {
  if (samples_ == 0) return std::nullopt;
  const auto n = static_cast<double>(samples_);
  const double reach = 1 - 2 * mistaken_share_;
  const double share = std::clamp((static_cast<double>(quick_) / n - mistaken_share_) / reach, 0.0, 1.0);
  // Uses the reported share, so that equal samples have an error too.
  const double quick = share * reach + mistaken_share_;
  return Estimate{share, std::sqrt(quick * (1 - quick) / n) / reach};
}

}  // namespace parshall::lab
