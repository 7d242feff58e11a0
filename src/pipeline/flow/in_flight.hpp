// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "pipeline/decode/facts.hpp"
#include "pipeline/decode/fast_path.hpp"
#include "pipeline/decode/tcp.hpp"

namespace parshall {

/// Position of a packet among all packets counted on its link.
struct LinkPlace {
  std::uint64_t position = 0;   ///< packets counted before it
  std::uint64_t latest_ns = 0;  ///< latest time of these and this packet, if the writer knows it
};

/// Ring of packets whose memory has been prefetched but not used yet. It outlives a burst, so that the pipeline does
/// not drain at the end of each.
class InFlight {
 public:
  /// Number of packets during which a cache line can arrive. At least two groups, or a short group would stall the
  /// pipeline.
  static constexpr std::size_t kDistance = 32;

  /// Places for the facts of the next packets, one after the other.
  class Cursor {
   public:
    explicit Cursor(InFlight& window) noexcept : at_(&window.next()), ring_(window.facts_.data()) {}

    PacketFacts* operator->() const noexcept { return at_; }
    PacketFacts& operator*() const noexcept { return *at_; }
    [[gnu::always_inline]] void advance() noexcept { move(1); }

    /// Returns the next kGroup places if they are contiguous, else null.
    PacketFacts* group() const noexcept {
      return ring_ + kRing - at_ >= static_cast<std::ptrdiff_t>(kGroup) ? at_ : nullptr;
    }
    void advance_group() noexcept { move(kGroup); }

   private:
    friend InFlight;
    [[gnu::always_inline]] void move(std::size_t count) noexcept {
      at_ = at_ + count == ring_ + kRing ? ring_ : at_ + count;
      count_ += count;
    }
    PacketFacts* at_;
    PacketFacts* ring_;
    std::size_t count_ = 0;
  };

  /// Adds the packets written up to `end`, at most kGroup, which directly follow the previous ones on the link. Returns
  /// how many.
  std::size_t push(const Cursor& end) noexcept {
    head_ += end.count_;
    return end.count_;
  }

  /// Adds the kGroup packets written to Cursor::group(), at the given positions on the link; packets between them may
  /// have gone elsewhere. Returns the latest time of these and of `latest_ns`.
  std::uint64_t push_group(std::span<const std::uint64_t, kGroup> positions, std::uint64_t latest_ns) noexcept {
    const PacketFacts* const facts = &facts_[head_ % kRing];
    LinkPlace* const places = &places_[head_ % kRing];
    for (std::size_t i = 0; i < kGroup; ++i) {
      latest_ns = std::max(latest_ns, facts[i].time_ns);
      places[i] = {positions[i], latest_ns};
    }
    gaps_ = true;
    head_ += kGroup;
    return latest_ns;
  }

  /// Returns the place for the next packet.
  PacketFacts& next() noexcept { return facts_[head_ % kRing]; }

  /// Adds one packet at the given place on the link; packets before it may have gone elsewhere. Without `takes`, the
  /// packet is not added and the next one overwrites it.
  void push_at(LinkPlace place, bool takes = true) noexcept {
    places_[head_ % kRing] = place;
    gaps_ = true;
    head_ += takes;
  }

  /// Returns the place of the i-th oldest packet, without the latest time if all packets came here.
  LinkPlace place(std::size_t i) const noexcept {
    return gaps_ ? places_[(tail_ + i) % kRing] : LinkPlace{.position = tail_ + i};
  }

  /// Returns the TCP facts of the next packet to be pushed, or of the i-th after it. They are filled before that push,
  /// if the front end was asked for them.
  TcpFacts& next_tcp(std::size_t i = 0) noexcept { return tcp_[(head_ + i) % kRing]; }
  const TcpFacts& tcp(std::size_t i) const noexcept { return tcp_[(tail_ + i) % kRing]; }  ///< the i-th oldest

  /// Likewise for the packets themselves, whose bytes are valid as long as the source's batch.
  const RawPacket*& next_raw(std::size_t i = 0) noexcept { return raw_[(head_ + i) % kRing]; }
  const RawPacket* raw(std::size_t i) const noexcept { return raw_[(tail_ + i) % kRing]; }

  /// Returns the newest kGroup packets if they are contiguous, else null.
  const PacketFacts* newest_group() const noexcept {
    const std::size_t start = (head_ - kGroup) % kRing;
    return start <= kRing - kGroup ? &facts_[start] : nullptr;
  }

  /// Visits the newest `count` packets, one at a time.
  template <class Visit>
  void visit_newest(std::size_t count, Visit visit) const noexcept {
    for (std::uint64_t i = head_ - count; i != head_; ++i) visit(facts_[i % kRing]);
  }

  std::uint64_t pushed() const noexcept { return head_; }
  std::size_t size() const noexcept { return head_ - tail_; }

  /// Returns the oldest packets, at most `most`, contiguous.
  std::span<const PacketFacts> oldest(std::size_t most) const noexcept { return at(tail_, std::min(most, size())); }
  void pop(std::size_t count) noexcept { tail_ += count; }

 private:
  static constexpr std::size_t kRing = 128;

  std::span<const PacketFacts> at(std::size_t index, std::size_t count) const noexcept {
    const std::size_t start = index % kRing;
    return {&facts_[start], std::min(count, kRing - start)};
  }

  std::array<PacketFacts, kRing> facts_;
  std::array<LinkPlace, kRing> places_;
  std::array<TcpFacts, kRing> tcp_;
  std::array<const RawPacket*, kRing> raw_;
  std::uint64_t head_ = 0, tail_ = 0;
  bool gaps_ = false;  ///< true if places_ is in use; otherwise positions follow from the ring's own count
};

}  // namespace parshall
