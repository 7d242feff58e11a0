// SPDX-License-Identifier: Apache-2.0
/// Sums of the records that a transport may yet hear of.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "pipeline/output/exporter.hpp"

namespace parshall {

/// Sums of sent records, in the order in which they were sent. Each has a place: where its bytes end in a stream, or
/// when it was sent. Places never decrease.
class SentRecords {
 public:
  /// Adds up records whose places are within one multiple of `grain`; they get the last one's place.
  explicit SentRecords(std::uint64_t grain = 1) noexcept : grain_(grain) {}

  void add(std::uint64_t place, const OutputSummary::Sum& records) {
    if (!pieces_.empty() && pieces_.back().place / grain_ == place / grain_)
      pieces_.back() = {place, pieces_.back().records + records};
    else
      pieces_.push_back({place, records});
    sum_ += records;
  }

  /// Takes out all up to `place`, and calls `use` with the place and the records of each sum.
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
