// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace parshall {

/// Returns the 97.5 % quantile of Student's t distribution with the given degrees of freedom (at least 1).
/// Error: 0.0002 at most.
/// Source: the table's values to four decimals; beyond it the expansion in Abramowitz and Stegun, 26.7.5.
double student_t_975(std::size_t degrees) noexcept;

/// Mean of samples, with the 95 % confidence interval of the true mean.
struct MeanInterval {
  double mean = 0;
  std::optional<double> half_width, deviation;  ///< half the interval; samples' deviation; nullopt below two samples
};
MeanInterval mean_interval(std::span<const double> samples) noexcept;

/// 95 % confidence interval of the chance of an event that occurred `hits` times in `trials` independent trials.
/// Source: Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22, 1927.
struct ShareInterval {
  double low = 0, high = 1;
};
ShareInterval share_interval(std::uint64_t hits, std::uint64_t trials) noexcept;

/// Returns an upper bound, with 95 % confidence, for the chance of an event that did not occur in `trials` independent
/// trials (at least 1).
/// Source: Hanley, Lippman-Hand, "If nothing goes wrong, is everything all right?", JAMA 249, 1983: the rule of three.
inline double upper_of_none(std::uint64_t trials) noexcept { return 3.0 / static_cast<double>(trials); }

}  // namespace parshall
