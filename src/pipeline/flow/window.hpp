// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "pipeline/decode/facts.hpp"

namespace parshall {

inline constexpr std::size_t kGroup = 8;  ///< packets a stage works on at a time

/// The packets between "memory asked for" and "memory used": a ring that outlives a burst, so that the
/// rolling pipeline does not drain at burst borders.
class Window {
 public:
  /// Packets that a cache line gets to arrive. At least two groups, or a short group would stall the pipeline.
  static constexpr std::size_t kDistance = 32;

  /// The place for the `ahead`-th packet not yet pushed; at most kGroup may be written before push().
  PacketFacts& next(std::size_t ahead) noexcept { return facts_[(head_ + ahead) % kRing]; }

  /// Takes in the next `count` packets, which follow the ones before them on the link.
  void push(std::size_t count) noexcept { head_ += count; }

  /// Takes in one packet that stands at `position` on the link: others may have gone elsewhere.
  void push_at(std::uint64_t position) noexcept {
    positions_[head_ % kRing] = position;
    gaps_ = true;
    ++head_;
  }

  /// How many packets were counted on the link before the i-th oldest.
  std::uint64_t position(std::size_t i) const noexcept { return gaps_ ? positions_[(tail_ + i) % kRing] : tail_ + i; }

  std::uint64_t pushed() const noexcept { return head_; }
  std::size_t size() const noexcept { return head_ - tail_; }

  /// The oldest packets, at most `most`, contiguous.
  std::span<const PacketFacts> oldest(std::size_t most) const noexcept { return at(tail_, std::min(most, size())); }
  const PacketFacts& newest() const noexcept { return facts_[(head_ - 1) % kRing]; }
  void pop(std::size_t count) noexcept { tail_ += count; }

 private:
  static constexpr std::size_t kRing = 128;

  std::span<const PacketFacts> at(std::size_t index, std::size_t count) const noexcept {
    const std::size_t start = index % kRing;
    return {&facts_[start], std::min(count, kRing - start)};
  }

  std::array<PacketFacts, kRing> facts_;
  std::array<std::uint64_t, kRing> positions_;
  std::uint64_t head_ = 0, tail_ = 0;
  bool gaps_ = false;  ///< whether positions_ is in use; otherwise the ring's own count is the position
};

}  // namespace parshall
