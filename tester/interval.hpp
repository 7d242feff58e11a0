// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

namespace parshall::tester {

enum class Confidence : std::uint8_t { percent_95, percent_99 };

/// A ratio, with its confidence interval.
struct Ratio {
  double value = 0, low = 0, high = 1;
};

/// Returns `part` of `whole` with Wilson's score interval; nullopt if `whole` is 0 or less than `part`.
///
/// Error:  on average over ratios, it covers the true ratio as often as stated. For a single ratio coverage differs a
///         little, and by one or two per cent if about ten events or fewer are expected. It assumes independent frames:
///         bursts of losses vary more.
/// Source: Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22, 1927; recommended
///         by Brown, Cai, DasGupta, "Interval estimation for a binomial proportion", Statistical Science 16(2), 2001.
std::optional<Ratio> ratio_of(std::uint64_t part, std::uint64_t whole,
                              Confidence confidence = Confidence::percent_95) noexcept;

}  // namespace parshall::tester
