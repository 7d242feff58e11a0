// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace parshall {

/// What 97.5 % of Student's t distribution with so many degrees of freedom, at least one, are below.
/// Error: 0.0002 at most.
/// Source: the table's values to four decimals; beyond it the expansion in Abramowitz and Stegun, 26.7.5.
double student_t_975(std::size_t degrees) noexcept;

/// The mean of samples, and where the mean of all that could be lies with 95 % confidence.
struct MeanInterval {
  double mean = 0;
  std::optional<double> half_width, deviation;  ///< of the mean, of a sample; nothing of less than two samples
};
MeanInterval mean_interval(std::span<const double> samples) noexcept;

/// No more than this is the chance of what did not happen in so many trials, at least one, with 95 % confidence, where
/// trials have nothing to do with each other.
/// Source: Hanley, Lippman-Hand, "If nothing goes wrong, is everything all right?", JAMA 249, 1983: the rule of three.
inline double upper_of_none(std::uint64_t trials) noexcept { return 3.0 / static_cast<double>(trials); }

}  // namespace parshall
