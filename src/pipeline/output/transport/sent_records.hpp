// SPDX-License-Identifier: Apache-2.0
/// Bookkeeping of sent records whose arrival is not certain yet.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "pipeline/output/exporter.hpp"

namespace parshall {

/// Sums of sent records, in the order of sending. Each has a place: the end of its bytes in a stream, or its time of
/// sending. Places never decrease.
class SentRecords {
 public:
  /// Merges records whose places are within one multiple of `grain`; they get the last one's place.
  explicit SentRecords(std::uint64_t grain = 1) noexcept : grain_(grain) {}

  void add(std::uint64_t place, const OutputSummary::Sum& records) {
    if (!pieces_.empty() && pieces_.back().place / grain_ == place / grain_)
      pieces_.back() = {place, pieces_.back().records + records};
    else
      pieces_.push_back({place, records});
    sum_ += records;
  }

  /// Removes all sums up to `place`, and calls `use` with the place and the records of each.
  template <class Use>
  void take_until(std::uint64_t place, const Use& use) {
    for (; !pieces_.empty() && pieces_.front().place <= place; pieces_.pop_front()) {
      sum_ = sum_ - pieces_.front().records;
      use(pieces_.front().place, pieces_.front().records);
    }
  }
  void forget_until(std::uint64_t place) {
    take_until(place, [](auto...) {});
  }

  OutputSummary::Sum take_all() {
    pieces_.clear();
    return std::exchange(sum_, {});
  }
  const OutputSummary::Sum& sum() const noexcept { return sum_; }

 private:
  struct Piece {
    std::uint64_t place;
    OutputSummary::Sum records;
  };
  std::uint64_t grain_;
  std::deque<Piece> pieces_;
  OutputSummary::Sum sum_;
};

}  // namespace parshall
