// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace parshall {

/// Quantiles of numbers from 0 up, within a relative error.
///
/// Shape: a counter for each bin (g^(i-1), g^i], g = (1 + error) / (1 - error), from 1e-9 to 1e18: 3110 at 1 %. One
///        more bin holds smaller values, which count as 0. Larger values count in the last bin.
/// Error: |reported - exact| <= error * exact for any quantile (nearest rank) within these limits.
/// Source: Masson, Rim, Lee, "DDSketch: a fast and fully-mergeable quantile sketch", PVLDB 12(12), 2019, section 2.
class DdSketch {
 public:
  explicit DdSketch(double relative_error)
      : error_(relative_error),
        per_log_(1 / std::log((1 + relative_error) / (1 - relative_error))),
        lowest_(index_of(kLeast)),
        bins_(static_cast<std::size_t>(index_of(kMost) - lowest_ + 2)) {}

  void add(double value) noexcept {
    ++count_;
    const std::ptrdiff_t bin = value < kLeast ? 0 : index_of(std::min(value, kMost)) - lowest_ + 1;
    ++bins_[static_cast<std::size_t>(bin)];
  }
  void clear() noexcept {
    count_ = 0;
    std::ranges::fill(bins_, 0);
  }

  std::uint64_t count() const noexcept { return count_; }

  /// Returns the smallest value that at least the fraction `share`, in (0, 1], does not exceed; nullopt without values.
  std::optional<double> quantile(double share) const noexcept {
    if (count_ == 0) return std::nullopt;
    const auto rank = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
    std::uint64_t before = 0;
    for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
      before += bins_[bin];
      if (before < std::max<std::uint64_t>(rank, 1)) continue;
      if (bin == 0) return 0;
      const double top = std::exp(static_cast<double>(static_cast<std::ptrdiff_t>(bin) - 1 + lowest_) / per_log_);
      return top * (1 - error_);
    }
    return std::nullopt;
  }

 private:
  static constexpr double kLeast = 1e-9, kMost = 1e18;

  std::ptrdiff_t index_of(double value) const noexcept {
    return static_cast<std::ptrdiff_t>(std::ceil(std::log(value) * per_log_));
  }

  double error_, per_log_;
  std::ptrdiff_t lowest_;
  std::vector<std::uint64_t> bins_;
  std::uint64_t count_ = 0;
};

}  // namespace parshall
