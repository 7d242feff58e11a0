// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/huge_buffer.hpp"
#include "pipeline/flow/maps/map.hpp"

namespace parshall {

/// Hands out the places 0 to n - 1, returned ones first.
///
/// Memory: 4 bytes per place, committed as places are first handed out.
class FreeList {
 public:
  explicit FreeList(std::size_t places) : next_(places) {}

  /// Returns a free place, or kNowhere if all are taken.
  Place take() noexcept {
    if (free_ != kNowhere) {
      const Place place = free_;
      free_ = next_[place];
      return place;
    }
    return fresh_ < next_.size() ? fresh_++ : kNowhere;
  }

  void give_back(Place place) noexcept {
    next_[place] = free_;
    free_ = place;
  }

 private:
  HugeBuffer<Place> next_;
  Place free_ = kNowhere;
  Place fresh_ = 0;  ///< first place that was never taken
};

}  // namespace parshall
