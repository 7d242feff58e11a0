// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace parshall {

/// Layout of a histogram's bins such that the value a bin reports is within a relative error of all it holds.
///
/// Small values have a bin each. Each octave [2^k, 2^(k+1)) above has `bins_per_octave` bins. They are spaced by the
/// parabola m (4 - m) / 3 of the mantissa m in [0, 1), an integer approximation of log2(1 + m). It needs 8 % more bins
/// than the logarithm; equal widths would need 44 % more. A bin of integers low .. high reports 2 low high / (low +
/// high), which is off by at most (high - low) / (high + low). The constructor takes the fewest bins per octave that
/// keep this within the requested error.
class LogBins {
 public:
  /// Covers values below 2^value_bits (at most 63); larger ones count as the largest. The error is in (0, 1).
  LogBins(double relative_error, int value_bits);

  std::size_t count() const noexcept { return report_.size(); }
  std::uint64_t largest() const noexcept { return largest_; }
  std::uint64_t bins_per_octave() const noexcept { return bins_per_octave_; }
  double report(std::size_t bin) const noexcept { return report_[bin]; }

  std::size_t bin_of(std::uint64_t value) const noexcept {
    constexpr int kBits = 20;  // of the mantissa: boundaries are off by 1e-6, within what the constructor checked
    constexpr std::uint64_t kOne = std::uint64_t{1} << kBits;
    const std::uint64_t clamped = std::min(value, largest_);
    const int zeros = std::countl_zero(clamped | 1);
    const std::uint64_t mantissa = (clamped << zeros >> (63 - kBits)) - kOne;
    const std::uint64_t parabola = mantissa * (4 * kOne - mantissa);  // below 3 * kOne^2
    const std::uint64_t part = (parabola * bins_per_octave_ >> 2 * kBits) / 3;
    const std::uint64_t bin = first_octave_ + static_cast<std::uint64_t>(63 - zeros) * bins_per_octave_ + part;
    return clamped < single_ ? clamped : bin;
  }

 private:
  void lay_out(std::uint64_t bins_per_octave) noexcept;
  std::vector<std::uint64_t> lowest_values() const;
  double take_reports();

  std::uint64_t bins_per_octave_ = 0;
  std::uint64_t single_ = 0;        ///< values below have a bin each; a power of two
  std::uint64_t first_octave_ = 0;  ///< bin of value 1, had its octave bins like the rest (wraps below 0)
  std::uint64_t largest_ = 0;
  std::vector<double> report_;
};

}  // namespace parshall
