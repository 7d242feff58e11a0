// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

namespace parshall::tester {

enum class Confidence : std::uint8_t { percent_95, percent_99 };

/// A share of a whole, and between which it would be over many more such tests.
struct Ratio {
  double value = 0, low = 0, high = 1;
};

/// `part` of `whole`; nothing where there is no whole, or more than it. The interval is Wilson's score interval.
///
/// Error: it covers the true ratio as often as it says, on average over ratios; for one ratio a little less or more,
///        and where some ten are expected or fewer, by a per cent or two. It is of frames whose fates are independent:
///        those lost in bursts vary more.
/// Source: Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22, 1927; recommended
///         by Brown, Cai, DasGupta, "Interval estimation for a binomial proportion", Statistical Science 16(2), 2001.
std::optional<Ratio> ratio_of(std::uint64_t part, std::uint64_t whole,
                              Confidence confidence = Confidence::percent_95) noexcept;

}  // namespace parshall::tester
