// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "base/log_bins.hpp"
#include "base/nearest_rank.hpp"

namespace parshall {

/// Histogram of values such as latencies in ns. Count, sum, least and largest are exact; percentiles are approximate.
///
/// Shape: 64-bit counts, 50 kB at 0.2 %; some 100 B / error in general. Copies share the layout of the bins, another 50
///        kB, so many histograms are made as copies of an empty one.
/// Cost:  integer arithmetic and one cache line a value; a quantile visits every bin.
/// Error: |quantile - exact| <= error * exact for any percentile (nearest rank) below 2^40 (18 minutes in ns). Beyond
///        that, the largest value is returned. Percentiles 0 and 100 are exact.
/// Merge: exact, of histograms with the same error.
class ValueHistogram {
 public:
  static constexpr double kRelativeError = 0.002;
  static constexpr int kValueBits = 40;

  explicit ValueHistogram(double relative_error = kRelativeError)
      : bins_(relative_error == kRelativeError ? usual_bins() : make_bins(relative_error)), counts_(bins_->count()) {}

  void add(std::uint64_t value) noexcept {
    ++counts_[bins_->bin_of(value)];
    ++count_;
    sum_ += value;
    least_ = std::min(least_, value);
    largest_ = std::max(largest_, value);
  }

  void add(const ValueHistogram& other) noexcept {
    assert(counts_.size() == other.counts_.size());
    for (std::size_t bin = 0; bin < counts_.size(); ++bin) counts_[bin] += other.counts_[bin];
    count_ += other.count_;
    sum_ += other.sum_;
    least_ = std::min(least_, other.least_);
    largest_ = std::max(largest_, other.largest_);
  }

  std::uint64_t count() const noexcept { return count_; }

  /// Returns how many values are larger, within the error of values.
  std::uint64_t count_above(std::uint64_t value) const noexcept {
    return std::accumulate(counts_.begin() + static_cast<std::ptrdiff_t>(bins_->bin_of(value)) + 1, counts_.end(),
                           std::uint64_t{0});
  }
  std::size_t bytes() const noexcept { return counts_.size() * sizeof(std::uint64_t); }

  std::optional<std::uint64_t> least() const noexcept { return there_is(least_); }
  std::optional<std::uint64_t> largest() const noexcept { return there_is(largest_); }
  std::optional<double> mean() const noexcept {
    return there_is(static_cast<double>(sum_) / static_cast<double>(count_));
  }

  /// Returns the value that the fraction `probability`, from 0 to 1, of all values does not exceed; nullopt without
  /// values.
  std::optional<double> quantile(double probability) const noexcept {
    if (count_ == 0) return std::nullopt;
    const std::uint64_t rank = nearest_rank(probability, count_);
    if (rank <= 1) return static_cast<double>(least_);
    if (rank >= count_) return static_cast<double>(largest_);
    std::size_t bin = 0;
    for (std::uint64_t up_to_bin = counts_[0]; up_to_bin < rank;) up_to_bin += counts_[++bin];
    if (bin + 1 == counts_.size() && largest_ > bins_->largest()) return static_cast<double>(largest_);
    return std::clamp(bins_->report(bin), static_cast<double>(least_), static_cast<double>(largest_));
  }

 private:
  using Bins = std::shared_ptr<const LogBins>;
  static Bins make_bins(double relative_error) { return std::make_shared<const LogBins>(relative_error, kValueBits); }
  static const Bins& usual_bins() {  // shared, because laying them out takes milliseconds
    static const Bins bins = make_bins(kRelativeError);
    return bins;
  }

  template <class T>
  std::optional<T> there_is(T value) const noexcept {
    return count_ == 0 ? std::nullopt : std::optional<T>(value);
  }

  Bins bins_;
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  unsigned __int128 sum_ = 0;
  std::uint64_t least_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t largest_ = 0;
};

}  // namespace parshall
