// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/tcp/compact_connection.hpp"

#include <utility>

namespace parshall {
namespace {

constexpr std::uint32_t kHalf = 0x8000'0000;  ///< numbers further apart than this have no order

/// Returns whether an end is undisturbed, and sent something.
bool sent_in_order(const TcpSender& sender) noexcept {
  return sender.has_base && sender.has_window && sender.window != 0 && sender.next_seq != 0 && sender.last_ack != 0 &&
         sender.contiguous_end == sender.next_seq && sender.gap_end == 0;
}

bool sent_nothing(const TcpSender& sender) noexcept {
  return sender.has_base && !sender.has_window && sender.next_seq == 0 && sender.last_ack == 0 &&
         sender.contiguous_end == 0 && sender.gap_end == 0 && sender.unacked.empty();
}

/// Returns whether nothing that the end sent changes what the next ordinary packet means.
bool is_calm(const TcpSender& sender) noexcept {
  return !sender.opening && !sender.kept_alive && !sender.probed && sender.duplicate_acks == 0;
}

}  // namespace

TcpConnection CompactConnection::unpack(SegmentPool& segments) noexcept {
  TcpConnection to;
  to.handshake_ns = handshake_ns_;
  const bool is_disturbed = (ends_[0].time_and_mode & kDisturbed) != 0;
  for (std::size_t i = 0; i != 2; ++i) {
    if (!ends_[i].is_listed()) make_listed(i, segments);
    End& end = ends_[i];
    const Others& others = others_[i];
    TcpSender& sender = to.sender[i];
    sender.base = base_[i];
    sender.last_ns = others.last_ns;
    sender.syn_ns = others.syn_ns;
    sender.has_base = others.has_base;
    sender.answered_syn = others.answered_syn;
    sender.unacked = std::exchange(end.list, {});
    if (!is_disturbed && end.window == 0) continue;
    sender.next_seq = end.next_seq - base_[i];
    sender.last_ack = end.last_ack - base_[1 - i];
    sender.next_seq_ns = end.time_ns();
    sender.contiguous_end = sender.next_seq;
    sender.window = end.window;
    sender.has_window = true;
    if (!is_disturbed) continue;
    sender.next_seq_ns |= std::uint64_t{others.high_time_bits} << kModeShift;
    sender.contiguous_end = others.contiguous_end;
    sender.gap_end = others.gap_end;
    sender.has_window = others.has_window;
    sender.duplicate_acks = others.duplicate_acks;
    sender.opening = others.opening;
    sender.kept_alive = others.kept_alive;
    sender.probed = others.probed;
  }
  return to;
}

void CompactConnection::pack(const TcpConnection& connection, SegmentPool& segments) noexcept {
  handshake_ns_ = connection.handshake_ns;
  bool is_undisturbed = true;
  for (std::size_t i = 0; i != 2; ++i) {
    const TcpSender &sender = connection.sender[i], &peer = connection.sender[1 - i];
    is_undisturbed = is_undisturbed && is_calm(sender) && (sent_in_order(sender) || sent_nothing(sender)) &&
                     sender.next_seq_ns >> kModeShift == 0 &&
                     (sender.has_window ? sender.next_seq : 1) - (peer.has_window ? peer.last_ack : 1) < kHalf;
  }
  for (std::size_t i = 0; i != 2; ++i) {
    const TcpSender &sender = connection.sender[i], &peer = connection.sender[1 - i];
    // An undisturbed end that sent nothing will send number 1, and acknowledges nothing of the peer's.
    const bool is_silent = is_undisturbed && !sender.has_window;
    base_[i] = sender.base;
    ends_[i].next_seq = sender.base + (is_silent ? 1 : sender.next_seq);
    ends_[i].last_ack = peer.base + (is_silent ? 1 : sender.last_ack);
    ends_[i].time_and_mode = (sender.next_seq_ns & kTimeMask) | kListed | (is_undisturbed ? 0 : kDisturbed);
    ends_[i].window = sender.window;
    ends_[i].list = sender.unacked;
    others_[i] = {.last_ns = sender.last_ns,
                  .syn_ns = sender.syn_ns,
                  .contiguous_end = sender.contiguous_end,
                  .gap_end = sender.gap_end,
                  .duplicate_acks = sender.duplicate_acks,
                  .has_base = sender.has_base,
                  .has_window = sender.has_window,
                  .answered_syn = sender.answered_syn,
                  .opening = sender.opening,
                  .kept_alive = sender.kept_alive,
                  .probed = sender.probed};
    others_[i].high_time_bits = static_cast<unsigned>(sender.next_seq_ns >> kModeShift) & 3U;
  }
  if (is_undisturbed)
    for (std::size_t i = 0; i != 2; ++i) pack_segments(i, segments);
}

/// Takes the segments of an undisturbed connection's end out of their list, if the end has room for them.
void CompactConnection::pack_segments(std::size_t i, SegmentPool& segments) noexcept {
  End& end = ends_[i];
  const std::uint32_t next_seq = end.next_seq - base_[i], unacked = end.next_seq - ends_[1 - i].last_ack;
  if (end.list.count > 2 || !end.list.sorted) return;
  std::array<UnackedSegment, 2> kept{};
  std::size_t count = 0;
  segments.visit({end.list, next_seq, end.time_ns()}, [&](const UnackedSegment& segment) {
    kept[count++] = segment;
    return true;
  });
  End::Latest latest{};
  std::uint32_t bytes = 0, before_bytes = 0;
  if (count != 0) {
    const UnackedSegment& last = kept[count - 1];
    bytes = last.next_seq - last.seq;
    latest.ts_value = last.ts_value;
    if (last.next_seq != next_seq || last.time_ns != end.time_ns() || last.retransmission || bytes > 0xFFFF) return;
  }
  if (count == 2) {
    const UnackedSegment &first = kept[0], &last = kept[1];
    const std::uint32_t ts_step = last.ts_value - first.ts_value;
    before_bytes = first.next_seq - first.seq;
    latest.before_ns = static_cast<std::uint32_t>(first.time_ns);
    latest.before_bytes = static_cast<std::uint16_t>(before_bytes);
    latest.ts_step = static_cast<std::uint16_t>(ts_step);
    if (first.next_seq != last.seq || first.retransmission || before_bytes > 0xFFFF || ts_step > 0xFFFF ||
        first.time_ns > last.time_ns || last.time_ns - first.time_ns > 0xFFFF'FFFF)
      return;
  }
  const bool follows = count == 0 ? unacked == 0 : count == 1 ? unacked != 0 && unacked <= bytes : unacked > bytes;
  if (!follows || unacked > bytes + before_bytes) return;
  segments.clear(end.list);
  end.latest = latest;
  end.bytes = static_cast<std::uint16_t>(bytes);
  end.time_and_mode &= ~kListed;
}

/// Puts the segments of an undisturbed connection's end into a list.
void CompactConnection::make_listed(std::size_t i, SegmentPool& segments) noexcept {
  End& end = ends_[i];
  const std::uint32_t unacked = end.next_seq - ends_[1 - i].last_ack;
  const std::uint32_t next_seq = end.next_seq - base_[i], seq = next_seq - end.bytes;
  const End::Latest latest = end.latest;
  const std::uint64_t before_ns = end.before_ns();
  end.list = {};
  if (unacked > end.bytes)
    segments.append_next({end.list, 0, 0}, {.seq = seq - latest.before_bytes,
                                            .next_seq = seq,
                                            .time_ns = before_ns,
                                            .ts_value = latest.ts_value - latest.ts_step,
                                            .retransmission = false});
  if (unacked != 0)
    segments.append_next({end.list, seq, before_ns}, {.seq = seq,
                                                      .next_seq = next_seq,
                                                      .time_ns = end.time_ns(),
                                                      .ts_value = latest.ts_value,
                                                      .retransmission = false});
  end.time_and_mode |= kListed;
}

void CompactConnection::forget_segments(std::size_t i, SegmentPool& segments) noexcept {
  End& end = ends_[i];
  if (end.is_listed())
    segments.clear(end.list);
  else
    end.list = {};
  end.time_and_mode |= kListed;
}

void CompactConnection::analyse_unpacked(std::size_t from, const TcpFacts& tcp, std::uint16_t flags,
                                         std::uint64_t time_ns, SegmentPool& segments, TcpFinding& finding) noexcept {
  TcpConnection connection = unpack(segments);
  analyse_tcp(connection, from, tcp, flags, time_ns, segments, finding);
  pack(connection, segments);
}

/// Analyses a packet that take_in_line() did not: an ordinary one of an undisturbed connection here, any other by
/// analyse_tcp().
void CompactConnection::take_others(std::size_t from, const TcpFacts& tcp, std::uint16_t flags, std::uint64_t time_ns,
                                    SegmentPool& segments, TcpFinding& finding) noexcept {
  End &me = ends_[from], &peer = ends_[1 - from];
  const std::uint32_t peer_unacked = peer.next_seq - me.last_ack;
  if (!(((me.time_and_mode & kDisturbed) == 0) & (time_ns >> kModeShift == 0) & is_ordinary(me, tcp, flags) &
        (tcp.ack - me.last_ack <= peer_unacked) & (peer_unacked < kHalf) &
        (me.next_seq + tcp.payload_bytes - peer.last_ack < kHalf)))
    return analyse_unpacked(from, tcp, flags, time_ns, segments, finding);

  const bool is_first = me.window == 0;  // of this end
  const std::uint32_t last_ack = me.last_ack, unacked = me.next_seq - peer.last_ack;
  if (!me.is_listed() && me.has_room(unacked, tcp, time_ns)) {
    me.take(unacked, tcp, time_ns);
  } else {
    if (!me.is_listed()) make_listed(from, segments);
    if (is_first) me.time_and_mode = time_ns | kListed;  // it reaches the first number
    me.last_ack = tcp.ack;
    me.window = tcp.window;
    if (tcp.payload_bytes != 0) {
      const std::uint32_t seq = me.next_seq - base_[from], next_seq = seq + tcp.payload_bytes;
      segments.append_next(
          {me.list, seq, me.time_ns()},
          {.seq = seq, .next_seq = next_seq, .time_ns = time_ns, .ts_value = tcp.ts_value, .retransmission = false});
      me.next_seq += tcp.payload_bytes;
      me.time_and_mode = time_ns | kListed;
    }
  }
  if (!peer.is_listed()) return time_ack(peer, tcp.ack - last_ack, peer_unacked, time_ns, finding);
  const std::uint32_t next_seq = peer.next_seq - base_[1 - from];
  if (tcp.ack == peer.next_seq && peer.list.plain) {
    if (!peer.list.empty()) finding.rtt_ns = since(time_ns, peer.time_ns());
    segments.clear(peer.list);
  } else if (!peer.list.empty()) {
    take_ack(tcp.ack - base_[1 - from], tcp.ts_echo, is_first ? 0 : last_ack - base_[1 - from], time_ns,
             {peer.list, next_seq, peer.time_ns()}, segments, finding);
  }
  if (peer.list.empty() && tcp.ack == peer.next_seq) peer.time_and_mode &= ~kListed;
}

}  // namespace parshall
