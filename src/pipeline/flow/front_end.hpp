// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "pipeline/capture/bpf_filter.hpp"
#include "pipeline/decode/fast_path.hpp"
#include "pipeline/flow/identity.hpp"
#include "pipeline/flow/window.hpp"

namespace parshall {

/// Which of the link's packets a worker takes when several workers see all of them.
struct Share {
  std::uint32_t index = 0;
  std::uint32_t of = 1;

  /// From bits of the hash that the table's bucket does not depend on first.
  static std::uint32_t index_of(std::uint64_t hash, std::uint32_t of) noexcept {
    return static_cast<std::uint32_t>((hash >> 24 & 0xFFFF) * of >> 16);
  }
  bool takes(std::uint64_t hash) const noexcept { return index_of(hash, of) == index; }
};

/// Where every packet that reached this worker went.
struct FrontEndCounts {
  std::uint64_t elsewhere = 0;  ///< another worker's: of its share, or rejected and therefore the first worker's
  std::uint64_t filtered = 0;
  std::array<std::uint64_t, kVerdicts> verdict{};
};

/// From raw packet to facts with key and hash: filter, decode, identity, and this worker's share.
class FrontEnd {
 public:
  FrontEnd(IpHeader header, const FlowIdentity& identity, Share share, std::optional<BpfFilter> filter)
      : identity_(identity),
        share_(share),
        header_(header),
        filter_(std::move(filter)),
        plain_(!filter_ && header == IpHeader::outermost && !identity.from_nic()) {}

  /// Writes the facts of the packets that count for this worker to `window`, in order, and hands each hash
  /// to `prefetch`. At most kGroup packets.
  template <class Prefetch>
  void accept(std::span<const RawPacket> packets, Window& window, Prefetch prefetch) noexcept {
    if (plain_) [[likely]]
      return share_.of == 1 ? accept_plain(packets, window, prefetch) : accept_share(packets, window, prefetch);
    for (const RawPacket& packet : packets)
      if (accept_any(packet, window)) prefetch(window.newest().hash);
  }

  /// Packet level: the filter alone decides. Each worker takes every share.of-th packet.
  bool accept_undecoded(const RawPacket& packet) noexcept {
    if (filter_ && !filter_->matches(packet)) return reject(counts_.filtered), false;
    if (position_++ % share_.of != share_.index) return ++counts_.elsewhere, false;
    ++counts_.verdict[static_cast<std::size_t>(Verdict::counted)];
    return true;
  }

  const FrontEndCounts& counts() const noexcept { return counts_; }

 private:
  /// No filter, outermost header, no hash from a NIC: all of the link for this worker.
  template <class Prefetch>
  [[gnu::always_inline]] void accept_plain(std::span<const RawPacket> packets, Window& window,
                                           Prefetch prefetch) noexcept {
    const FlowIdentity identity = identity_;
    std::size_t counted = 0;
    for (const RawPacket& packet : packets) {
      PacketFacts& facts = window.next(counted);
      if (decode_fast(packet, facts)) [[likely]] {
        identity.ipv4(facts);
      } else if (!decode_rest(packet, facts)) {
        continue;
      }
      prefetch(facts.hash);
      ++counted;
    }
    window.push(counted);
    position_ += counted;
    counts_.verdict[static_cast<std::size_t>(Verdict::counted)] += counted;
  }

  /// The same for a worker that reads what others read too and keeps its share.
  template <class Prefetch>
  void accept_share(std::span<const RawPacket> packets, Window& window, Prefetch prefetch) noexcept {
    const FlowIdentity identity = identity_;
    const Share share = share_;
    std::uint64_t elsewhere = 0, counted = 0, position = position_;
    for (const RawPacket& packet : packets) {
      PacketFacts& facts = window.next(0);
      if (decode_fast(packet, facts)) [[likely]]
        identity.ipv4(facts);
      else if (!decode_rest(packet, facts))
        continue;
      const std::uint64_t at = position++;
      if (!share.takes(facts.hash)) {
        ++elsewhere;
        continue;
      }
      prefetch(facts.hash);
      window.push_at(at);
      ++counted;
    }
    position_ = position;
    counts_.elsewhere += elsewhere;
    counts_.verdict[static_cast<std::size_t>(Verdict::counted)] += counted;
  }

  [[gnu::noinline]] bool accept_any(const RawPacket& packet, Window& window) noexcept {
    if (filter_ && !filter_->matches(packet)) return reject(counts_.filtered), false;
    PacketFacts& facts = window.next(0);
    if (!decode_rest(packet, facts)) return false;
    const std::uint64_t position = position_++;
    if (!share_.takes(facts.hash)) return ++counts_.elsewhere, false;
    window.push_at(position);
    ++counts_.verdict[static_cast<std::size_t>(Verdict::counted)];
    return true;
  }

  [[gnu::noinline]] bool decode_rest(const RawPacket& packet, PacketFacts& facts) noexcept {
    const Verdict verdict = decode_any(packet, header_, facts);
    if (verdict != Verdict::counted) return reject(counts_.verdict[static_cast<std::size_t>(verdict)]), false;
    identity_(packet, facts);
    return true;
  }

  /// Packets without a flow belong to the first worker, so that they are counted once.
  void reject(std::uint64_t& reason) noexcept { ++(share_.index == 0 ? reason : counts_.elsewhere); }

  FlowIdentity identity_;
  Share share_;
  IpHeader header_;
  std::optional<BpfFilter> filter_;
  bool plain_;
  std::uint64_t position_ = 0;
  FrontEndCounts counts_;
};

}  // namespace parshall
