// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "pipeline/flow/window.hpp"

namespace parshall::lab {

/// The rolling pipeline of the monitor, for structures under test: `ask(first, count)` for the packets from `first` on,
/// then `half_way(first, count)` half a distance later, then `update(first, count)` a distance later. Groups of kGroup;
/// the last may be shorter.
template <class Ask, class HalfWay, class Update>
[[gnu::always_inline]] inline void roll(std::size_t packets, Ask ask, HalfWay half_way, Update update) noexcept {
  constexpr std::size_t kDistance = Window::kDistance, kHalf = kDistance / 2;
  for (std::size_t at = 0; at < packets + kDistance; at += kGroup) {
    if (at < packets) ask(at, std::min(kGroup, packets - at));
    if (at >= kHalf && at - kHalf < packets) half_way(at - kHalf, std::min(kGroup, packets - (at - kHalf)));
    if (at >= kDistance) update(at - kDistance, std::min(kGroup, packets - (at - kDistance)));
  }
}

/// Places for what is in flight: more than a distance, a multiple of kGroup.
template <class T>
class InFlight {
 public:
  T& operator[](std::size_t packet) noexcept { return items_[packet % kItems]; }

 private:
  static constexpr std::size_t kItems = 2 * Window::kDistance;
  std::array<T, kItems> items_;
};

}  // namespace parshall::lab
