// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/prefetch.hpp"
#include "pipeline/decode/tcp.hpp"
#include "pipeline/measure/tcp/analysis.hpp"
#include "pipeline/measure/tcp/connection.hpp"
#include "pipeline/measure/tcp/segment_pool.hpp"

namespace parshall {

/// A TcpConnection between packets. An ordinary packet of a connection without losses, retransmissions or reordering
/// is analysed in place, in the first cache line. For any other, the connection is unpacked, analysed by analyse_tcp(),
/// and packed again.
///
/// A connection is *undisturbed* if both ends sent all their data once and in order, as far as known, and opened their
/// windows. An end that sent nothing since the connection was first seen is undisturbed too. Then an ordinary packet
/// needs only what the first line has; the rest of TcpSender follows from it.
///
/// Shape: first line: both ends' numbers and up to two unacknowledged segments each. Second: what a packet with a
///        round-trip time needs. Third: what only unpacking needs.
class alignas(64) CompactConnection {
 public:
  /// Analyses the next packet sent by end `from`. `finding` must be as constructed.
  ///
  /// Error:  as analyse_tcp(), with two exceptions. analyse_tcp() takes a number 2^32 after the first for "none yet";
  ///         this class does not. If the pool is full, an end with two segments may lose the older one.
  [[gnu::always_inline]] void analyse(std::size_t from, const TcpFacts& tcp, std::uint16_t flags, std::uint64_t time_ns,
                                      SegmentPool& segments, TcpFinding& finding) noexcept {
    if (!take_in_line(from, tcp, flags, time_ns, finding)) [[unlikely]]
      take_others(from, tcp, flags, time_ns, segments, finding);
  }

  /// Prefetches what most packets need.
  void prefetch() const noexcept {
    prefetch_line(&ends_);
    prefetch_line(&round_trips_);
  }

  /// Prefetches the segments of a packet sent by end `from`, once that has arrived. Prefetches any chunk for an end
  /// without, since a branch would be unpredictable.
  [[gnu::always_inline]] void prefetch_segments(std::size_t from, const SegmentPool& segments) const noexcept {
    segments.prefetch(ends_[from].list.chunks.last & ends_[from].chunks_mask());
    segments.prefetch(ends_[1 - from].list.chunks.first & ends_[1 - from].chunks_mask());
  }

  /// Returns the connection, and its segments, for which it may take chunks: they must be packed again, or cleared. It
  /// has last_ns only where that matters: while an end's duplicate acknowledgements are counted.
  TcpConnection unpack(SegmentPool& segments) noexcept;
  void pack(const TcpConnection& connection, SegmentPool& segments) noexcept;

  /// Gives back the segments of an end.
  void forget_segments(std::size_t end, SegmentPool& segments) noexcept;

  /// Returns the round-trip times of the flow from that end.
  RttHistory& round_trips(std::size_t from) noexcept { return round_trips_[from]; }

  std::uint8_t& flows() noexcept { return flows_; }                        ///< number of directions that have a record
  std::uint32_t& slot(std::size_t from) noexcept { return slots_[from]; }  ///< of the flow from that end; kNoSlot: none

  static constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};

 private:
  static constexpr unsigned kModeShift = 62;  ///< times in ns since 1970 stay below 2^62 until 2116
  static constexpr std::uint64_t kListed = std::uint64_t{1} << 62, kDisturbed = std::uint64_t{1} << 63;
  static constexpr std::uint64_t kTimeMask = kListed - 1;

  /// One end of a connection. Its numbers are those of its packets.
  ///
  /// Unacknowledged segments are in `list` if it is_listed(). Otherwise they follow from the numbers: none if all is
  /// acknowledged; the latest; or that and the one before, if the peer has yet to acknowledge more than the latest.
  struct End {
    std::uint32_t next_seq = 0, last_ack = 0;
    std::uint64_t time_and_mode = kListed | kDisturbed;  ///< TcpSender::next_seq_ns, and bits above it
    std::uint16_t window = 0;                            ///< 0 in an undisturbed connection: it sent nothing yet
    std::uint16_t bytes = 0;                             ///< bytes of the latest segment
    struct Latest {
      std::uint32_t ts_value;      ///< its time stamp
      std::uint32_t before_ns;     ///< the segment before: its time, low bits, less than 2^32 ns ago
      std::uint16_t before_bytes;  ///< likewise
      std::uint16_t ts_step;       ///< the latest segment's time stamp less that of the one before
    };
    union {
      UnackedSegments list{};
      Latest latest;
    };

    bool is_listed() const noexcept { return (time_and_mode & kListed) != 0; }
    /// Returns all ones if its segments are in chunks, else 0.
    std::uint32_t chunks_mask() const noexcept {
      return 0 - static_cast<std::uint32_t>(time_and_mode >> kModeShift & static_cast<std::uint64_t>(list.in_chunks));
    }
    std::uint64_t time_ns() const noexcept { return time_and_mode & kTimeMask; }
    std::uint64_t before_ns() const noexcept {
      return time_ns() - static_cast<std::uint32_t>(static_cast<std::uint32_t>(time_ns()) - latest.before_ns);
    }

    /// Returns whether it needs no list after an ordinary packet, if it has none and `unacked` bytes are not
    /// acknowledged.
    [[gnu::always_inline]] bool has_room(std::uint32_t unacked, const TcpFacts& tcp,
                                         std::uint64_t now_ns) const noexcept {
      const std::uint32_t ts_step = tcp.ts_value - latest.ts_value;
      const bool can_follow = (unacked <= bytes) & (now_ns - time_and_mode <= 0xFFFF'FFFF) & (ts_step <= 0xFFFF);
      return (tcp.payload_bytes == 0) | (((unacked == 0) | can_follow) & (tcp.payload_bytes <= 0xFFFF));
    }
    /// Notes an ordinary packet that it sent, if it has_room().
    [[gnu::always_inline]] void take(std::uint32_t unacked, const TcpFacts& tcp, std::uint64_t now_ns) noexcept {
      const bool is_data = tcp.payload_bytes != 0, has_before = is_data & (unacked != 0);
      const bool is_further = is_data | (window == 0);  // its first packet reaches the first number
      last_ack = tcp.ack;
      window = tcp.window;
      latest.ts_step = has_before ? static_cast<std::uint16_t>(tcp.ts_value - latest.ts_value) : latest.ts_step;
      latest.before_ns = has_before ? static_cast<std::uint32_t>(time_and_mode) : latest.before_ns;
      latest.before_bytes = has_before ? bytes : latest.before_bytes;
      latest.ts_value = is_data ? tcp.ts_value : latest.ts_value;
      next_seq += tcp.payload_bytes;
      time_and_mode = is_further ? now_ns : time_and_mode;
      bytes = is_data ? static_cast<std::uint16_t>(tcp.payload_bytes) : bytes;
    }
  };
  static_assert(sizeof(End) == 32);

  /// The part of a TcpSender that an undisturbed connection does not use. Packed, to leave room for the rest of the
  /// line.
  struct [[gnu::packed]] Others {
    std::uint64_t last_ns = 0, syn_ns = 0;
    std::uint32_t contiguous_end = 0, gap_end = 0;
    std::uint8_t duplicate_acks = 0;
    std::uint8_t high_time_bits : 2 = 0;  ///< bits of next_seq_ns that time_and_mode has no room for
    bool has_base : 1 = false, has_window : 1 = false, answered_syn : 1 = false, opening : 1 = false;
    bool kept_alive : 1 = false, probed : 1 = false;
  };
  static_assert(sizeof(Others) == 26);

  /// Analyses an ordinary packet of an undisturbed connection, if no end has a list, or needs one.
  /// Returns false, without effect, for any other packet.
  [[gnu::always_inline]] bool take_in_line(std::size_t from, const TcpFacts& tcp, std::uint16_t flags,
                                           std::uint64_t time_ns, TcpFinding& finding) noexcept {
    End &me = ends_[from], &peer = ends_[1 - from];
    const std::uint32_t acked = tcp.ack - me.last_ack, peer_unacked = peer.next_seq - me.last_ack;
    if (!is_ordinary(me, tcp, flags) || acked > peer_unacked) [[unlikely]]
      return false;
    const bool in_line = (me.time_and_mode | peer.time_and_mode | time_ns) >> kModeShift == 0;
    const std::uint32_t unacked = me.next_seq - peer.last_ack;
    if (!(in_line & me.has_room(unacked, tcp, time_ns))) return false;
    time_ack(peer, acked, peer_unacked, time_ns, finding);
    me.take(unacked, tcp, time_ns);
    return true;
  }

  /// Returns whether the packet brings the next data, or acknowledges some, and nothing else.
  [[gnu::always_inline]] static bool is_ordinary(const End& me, const TcpFacts& tcp, std::uint16_t flags) noexcept {
    constexpr std::uint16_t kFin = 1, kSyn = 2, kRst = 4, kAck = 16;
    return (flags & (kFin | kSyn | kRst | kAck)) == kAck && tcp.seq == me.next_seq && tcp.window != 0 &&
           (tcp.payload_bytes > 1 || (tcp.payload_bytes == 0 && tcp.ack != me.last_ack));
  }

  /// Determines the round-trip time of a packet that acknowledges `acked` of `unacked` bytes, none of them in a list.
  [[gnu::always_inline]] static void time_ack(const End& peer, std::uint32_t acked, std::uint32_t unacked,
                                              std::uint64_t time_ns, TcpFinding& finding) noexcept {
    const std::uint32_t left = unacked - acked;
    const bool is_latest = left == 0, is_before = (left == peer.bytes) & (unacked > peer.bytes);
    const std::uint64_t rtt_ns = since(time_ns, is_latest ? peer.time_ns() : peer.before_ns());
    finding.rtt_ns = (acked != 0) & (is_latest | is_before) ? rtt_ns : TcpFinding::kNone;
  }
  static std::uint64_t since(std::uint64_t now_ns, std::uint64_t then_ns) noexcept {
    return now_ns > then_ns ? now_ns - then_ns : 0;
  }

  void take_others(std::size_t from, const TcpFacts& tcp, std::uint16_t flags, std::uint64_t time_ns,
                   SegmentPool& segments, TcpFinding& finding) noexcept;
  [[gnu::noinline]] void analyse_unpacked(std::size_t from, const TcpFacts& tcp, std::uint16_t flags,
                                          std::uint64_t time_ns, SegmentPool& segments, TcpFinding& finding) noexcept;
  void make_listed(std::size_t end, SegmentPool& segments) noexcept;
  void pack_segments(std::size_t end, SegmentPool& segments) noexcept;

  std::array<End, 2> ends_;
  alignas(64) std::array<RttHistory, 2> round_trips_;
  std::array<std::uint32_t, 2> base_{};
  std::uint64_t handshake_ns_ = 0;
  std::array<Others, 2> others_;
  std::array<std::uint32_t, 2> slots_{kNoSlot, kNoSlot};
  std::uint8_t flows_ = 0;
};
static_assert(sizeof(CompactConnection) == 192);

}  // namespace parshall
