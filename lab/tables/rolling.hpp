// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "pipeline/flow/in_flight.hpp"

namespace parshall::lab {

/// The monitor's rolling pipeline, for structures under test: packets are prefetched on arrival and updated a fixed
/// distance later. Packets in flight stay across calls.
template <class Asked>
class Rolling {
 public:
  /// Calls `ask(i, asked)` for each packet, `half_way(asked)` for those halfway through the distance, and
  /// `update(span)` for those at its end, a group at a time.
  template <class Ask, class HalfWay, class Update>
  [[gnu::always_inline]] void run(std::size_t packets, Ask ask, HalfWay half_way, Update update) {
    std::uint64_t head = head_;
    for (std::size_t at = 0; at < packets; at += kGroup) {
      const std::size_t count = std::min(kGroup, packets - at);
      for (std::size_t i = 0; i < count; ++i) ask(at + i, items_[(head + i) % kItems]);
      head += count;
      for (; half_ + kDistance / 2 < head; ++half_) half_way(items_[half_ % kItems]);
      if (tail_ + kDistance + kGroup <= head) pop(kGroup, update);
    }
    head_ = head;
  }

  /// Updates all packets in flight.
  template <class HalfWay, class Update>
  void drain(HalfWay half_way, Update update) {
    for (; half_ < head_; ++half_) half_way(items_[half_ % kItems]);
    while (tail_ < head_) pop(std::min<std::size_t>(kGroup, head_ - tail_), update);
  }

 private:
  static constexpr std::size_t kDistance = InFlight::kDistance;
  static constexpr std::size_t kItems = 2 * kDistance;
  static_assert(kItems % kGroup == 0);

  /// Pops items, in two pieces at the ring's end.
  template <class Update>
  [[gnu::always_inline]] void pop(std::size_t count, Update update) {
    const std::size_t at = tail_ % kItems, first = std::min(count, kItems - at);
    update(std::span<Asked>(&items_[at], first));
    if (first != count) update(std::span<Asked>(items_.data(), count - first));
    tail_ += count;
  }

  std::array<Asked, kItems> items_;
  std::uint64_t head_ = 0, half_ = 0, tail_ = 0;
};

}  // namespace parshall::lab
