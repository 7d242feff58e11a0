// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/huge_buffer.hpp"
#include "pipeline/flow/maps/map.hpp"

namespace parshall {

/// Hands out the places 0 to n - 1, returned ones first.
///
/// Memory: 4 bytes per place, committed as places are returned: a stack, of which only the top is touched.
class FreeList {
 public:
  explicit FreeList(std::size_t places) : returned_(places) {}

  void populate() noexcept { returned_.populate(); }

  /// Returns a free place, or kNowhere if all are taken.
  Place take() noexcept {
    if (count_ != 0) return returned_[--count_];
    return fresh_ < returned_.size() ? fresh_++ : kNowhere;
  }

  void give_back(Place place) noexcept { returned_[count_++] = place; }

 private:
  HugeBuffer<Place> returned_;
  Place count_ = 0;  ///< of returned_
  Place fresh_ = 0;  ///< first place that was never taken
};

}  // namespace parshall
