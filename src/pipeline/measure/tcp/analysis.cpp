// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/tcp/analysis.hpp"

#include <algorithm>

namespace parshall {
namespace {

constexpr std::uint16_t kFin = 1, kSyn = 2, kRst = 4, kAck = 16;
constexpr std::uint64_t kFastNs = 20'000'000, kReorderNs = 3'000'000;

bool before(std::uint32_t a, std::uint32_t b) noexcept { return static_cast<std::int32_t>(a - b) < 0; }
bool up_to(std::uint32_t a, std::uint32_t b) noexcept { return static_cast<std::int32_t>(a - b) <= 0; }
std::uint64_t since(std::uint64_t now_ns, std::uint64_t then_ns) noexcept {
  return now_ns > then_ns ? now_ns - then_ns : 0;
}

/// One packet, with numbers relative to its connection's first.
struct Segment {
  std::uint32_t seq, ack, bytes, next_seq;
  std::uint32_t window;
  std::uint16_t flags;
  std::uint64_t time_ns;

  bool has(std::uint16_t flag) const noexcept { return (flags & flag) != 0; }
  bool is_plain() const noexcept { return !has(kSyn | kFin | kRst); }
  bool takes_numbers() const noexcept { return bytes != 0 || has(kSyn | kFin); }
};

void begin_anew(TcpConnection& connection, SegmentPool& segments) noexcept {
  for (TcpSender& sender : connection.sender) {
    segments.clear(sender.unacked);
    sender = {};
  }
  connection.handshake_ns = 0;
}

/// Sets the base numbers. A SYN with another number begins a new connection.
void find_bases(TcpConnection& connection, std::size_t from, const TcpFacts& tcp, std::uint16_t flags,
                SegmentPool& segments, TcpMarks& marks) noexcept {
  TcpSender &me = connection.sender[from], &peer = connection.sender[1 - from];
  if ((flags & (kSyn | kAck)) == kSyn && me.has_base && me.base != tcp.seq) {
    begin_anew(connection, segments);
    marks.add(TcpMark::reused_ports);
  }
  if (!me.has_base) {
    me.base = (flags & kSyn) != 0 ? tcp.seq : tcp.seq - 1;
    me.has_base = true;
  }
  if (!peer.has_base && (flags & kAck) != 0) {
    peer.base = tcp.ack - 1;
    peer.has_base = true;
  }
}

/// Notes that the receiver accepted the byte of a probe.
void take_probe(TcpSender& sender, std::uint32_t ack, SegmentPool& segments) noexcept {
  segments.detach(sender.segments());
  sender.next_seq = sender.contiguous_end = ack;
}

/// Marks the packet by its window and acknowledgement.
void mark_by_window(const Segment& packet, const TcpSender& me, TcpSender& peer, SegmentPool& segments,
                    TcpMarks& marks) noexcept {
  const bool follows = packet.seq == me.next_seq;
  if (packet.bytes == 1 && follows && peer.has_window && peer.window == 0) return marks.add(TcpMark::zero_window_probe);
  if (packet.window == 0 && packet.is_plain()) marks.add(TcpMark::zero_window);
  if (me.next_seq != 0 && before(me.next_seq, packet.seq) && !packet.has(kRst)) marks.add(TcpMark::lost_segment);
  if (packet.bytes <= 1 && packet.seq == me.next_seq - 1 && packet.is_plain()) marks.add(TcpMark::keep_alive);
  if (packet.bytes != 0 || !follows || !packet.is_plain()) return;

  const bool same_ack = packet.ack == me.last_ack, same_window = me.has_window && packet.window == me.window;
  if (packet.window != 0 && !same_window && same_ack) marks.add(TcpMark::window_update);
  if (packet.window != 0 && same_window && same_ack && peer.kept_alive) return marks.add(TcpMark::keep_alive_ack);
  if (packet.window == 0 && same_window && (same_ack || packet.ack == me.last_ack + 1) && peer.probed) {
    if (!same_ack) take_probe(peer, packet.ack, segments);
    return marks.add(TcpMark::zero_window_probe_ack);
  }
  if (packet.window != 0 && same_window && same_ack) marks.add(TcpMark::duplicate_ack);
}

void mark_by_ack(const Segment& packet, const TcpSender& me, TcpSender& peer, SegmentPool& segments,
                 TcpMarks& marks) noexcept {
  if (peer.contiguous_end == 0 || !before(peer.contiguous_end, packet.ack) || !packet.has(kAck)) return;
  if (packet.ack == me.last_ack + 1 && packet.seq == me.next_seq && peer.probed) {
    take_probe(peer, packet.ack, segments);
    marks.add(TcpMark::window_update);
    return;
  }
  marks.add(TcpMark::ack_unseen);
  peer.contiguous_end = before(peer.next_seq, packet.ack) ? packet.ack : peer.next_seq;
}

/// Returns whether the same bytes were seen before and are not acknowledged: they are behind all gaps, or in a segment.
/// It searches only the oldest segments, which are sent again first, so no sender can make the search long.
bool was_seen(const Segment& packet, TcpSender& me, SegmentPool& segments) noexcept {
  constexpr int kMostLookedAt = 64;
  bool seen = false;
  int looked_at = 0;
  segments.visit(me.segments(), [&](UnackedSegment& segment) {
    seen = up_to(segment.seq, packet.seq) && up_to(packet.seq + packet.bytes, segment.next_seq);
    if (seen) segment.retransmission = true;
    return !seen && ++looked_at != kMostLookedAt;
  });
  const bool is_of_this_round = packet.seq - 1 < me.next_seq - 1;  // not before the first packet, nor 2^32 ago
  return seen || (me.gap_end == 0 ? is_of_this_round : up_to(me.gap_end, packet.seq));
}

/// Notes the gap that a packet leaves, or closes a part of, before me.next_seq has it.
void note_gap(TcpSender& me, const TcpSender& peer, const Segment& packet) noexcept {
  constexpr std::uint32_t kFarthest = 1u << 30;  // numbers twice as far apart have no order
  const bool is_acked = peer.last_ack != 0 && up_to(packet.seq, peer.last_ack);
  const bool begins_here = packet.has(kSyn) || packet.seq == 1 || is_acked;
  if (me.next_seq == 0 ? !begins_here : before(me.next_seq, packet.seq))
    me.gap_end = packet.seq;
  else if (me.gap_end != 0 && before(packet.seq, me.gap_end) && up_to(me.gap_end, packet.next_seq))
    me.gap_end = packet.seq;
  if (me.gap_end != 0 && packet.next_seq - me.gap_end > kFarthest && before(me.gap_end, packet.next_seq))
    me.gap_end = packet.next_seq - kFarthest;
}

/// Marks a packet that occupies sequence numbers, but not the next ones.
void mark_resent(TcpConnection& connection, std::size_t from, const Segment& packet, SegmentPool& segments,
                 TcpMarks& marks) noexcept {
  TcpSender& me = connection.sender[from];
  const TcpSender& peer = connection.sender[1 - from];
  if (marks.has(TcpMark::keep_alive)) return;
  if (packet.bytes != 0 && peer.last_ack != 0 && up_to(packet.seq + packet.bytes, peer.last_ack)) {
    marks.add(TcpMark::retransmission);
    marks.add(TcpMark::spurious_retransmission);
    return;
  }
  if (me.next_seq == 0 || !before(packet.seq, me.next_seq)) return;
  if (packet.bytes > 1 && packet.seq == me.next_seq - 1) return;  // new bytes behind those of a probe
  const std::uint64_t since_ack_ns = since(packet.time_ns, peer.last_ns);
  if (since_ack_ns < kFastNs && peer.duplicate_acks >= 2 && peer.last_ack == packet.seq) {
    marks.add(TcpMark::retransmission);
    marks.add(TcpMark::fast_retransmission);
    return;
  }
  const std::uint64_t reorder_ns = connection.handshake_ns != 0 ? connection.handshake_ns : kReorderNs;
  const bool seen = was_seen(packet, me, segments);
  if (since(packet.time_ns, me.next_seq_ns) < reorder_ns && !seen && me.next_seq != packet.next_seq)
    marks.add(TcpMark::out_of_order);
  else
    marks.add(TcpMark::retransmission);
}

void note_handshake(TcpConnection& connection, std::size_t from, const Segment& packet, TcpFinding& finding) noexcept {
  TcpSender& me = connection.sender[from];
  if (packet.has(kSyn)) {
    me.opening = !packet.has(kAck);
    me.answered_syn = packet.has(kAck);
    me.syn_ns = packet.time_ns;
    return;
  }
  if (!me.opening || !connection.sender[1 - from].answered_syn) return;
  me.opening = false;
  if (packet.has(kAck) && !packet.has(kRst) && packet.seq == 1 && up_to(1, packet.ack))
    finding.handshake_ns = connection.handshake_ns = since(packet.time_ns, me.syn_ns);
}

}  // namespace

void take_ack(std::uint32_t ack, std::uint32_t ts_echo, std::uint32_t last_ack, std::uint64_t time_ns, SegmentList sent,
              SegmentPool& segments, TcpFinding& finding) noexcept {
  bool by_timestamp = false;
  std::uint64_t sent_ns = 0, latest_ns = 0;  // time measured from; time of the last one sent of those acknowledged
  segments.acknowledge(sent, ack, [&](const UnackedSegment& segment) {
    if (last_ack == 0 || before(last_ack, segment.next_seq)) latest_ns = std::max(latest_ns, segment.time_ns);
    if (segment.next_seq != ack) return;
    const bool echoed = ts_echo != 0 && segment.ts_value == ts_echo;
    if (by_timestamp && !echoed) return;
    if (by_timestamp || (!echoed && finding.rtt_ns != TcpFinding::kNone)) {
      finding.rtt_ambiguous = true;
      return;
    }
    by_timestamp = echoed;
    sent_ns = segment.time_ns;
    finding.rtt_ns = since(time_ns, sent_ns);
    finding.rtt_ambiguous = segment.retransmission && !echoed;
  });
  // A segment sent later filled a hole, and the acknowledgement had waited for it.
  if (finding.rtt_ns != TcpFinding::kNone && !by_timestamp && sent_ns < latest_ns) finding.rtt_ambiguous = true;
}

void analyse_tcp(TcpConnection& connection, std::size_t from, const TcpFacts& tcp, std::uint16_t flags,
                 std::uint64_t time_ns, SegmentPool& segments, TcpFinding& finding) noexcept {
  TcpMarks& marks = finding.marks;
  const bool refuses = (flags & kRst) != 0 && !connection.sender[from].has_base;
  find_bases(connection, from, tcp, flags, segments, marks);
  TcpSender &me = connection.sender[from], &peer = connection.sender[1 - from];
  const bool has_ack = (flags & kAck) != 0;
  Segment packet{.seq = tcp.seq - me.base,
                 .ack = has_ack ? tcp.ack - peer.base : me.last_ack,
                 .bytes = tcp.payload_bytes,
                 .next_seq = tcp.seq - me.base + tcp.payload_bytes,
                 .window = tcp.window,
                 .flags = flags,
                 .time_ns = time_ns};
  if (packet.has(kSyn | kFin)) ++packet.next_seq;

  mark_by_window(packet, me, peer, segments, marks);
  if (marks.has(TcpMark::duplicate_ack) && me.duplicate_acks != 0xFF) ++me.duplicate_acks;
  if (has_ack && packet.ack != me.last_ack) me.duplicate_acks = 0;
  mark_by_ack(packet, me, peer, segments, marks);
  if (packet.takes_numbers()) mark_resent(connection, from, packet, segments, marks);

  const bool is_probe = marks.has(TcpMark::zero_window_probe);
  const bool is_further = !is_probe && (me.next_seq == 0 || before(me.next_seq, packet.next_seq));
  if (is_further) segments.detach(me.segments());
  if (!is_probe && (is_further || packet.takes_numbers())) note_gap(me, peer, packet);
  if (packet.takes_numbers()) {
    const UnackedSegment segment{.seq = packet.seq,
                                 .next_seq = packet.next_seq,
                                 .time_ns = time_ns,
                                 .ts_value = tcp.ts_value,
                                 .retransmission = marks.has(TcpMark::retransmission)};
    if (is_further && me.unacked.empty() && !segment.retransmission)
      segments.append_next(me.segments(), segment);
    else
      segments.append(me.segments(), segment);
  }
  if (!is_probe) {
    if (is_further) {
      me.next_seq = packet.next_seq;
      me.next_seq_ns = time_ns;
    }
    if (me.contiguous_end == 0 || packet.seq == me.contiguous_end ||
        (before(packet.seq, me.contiguous_end) && before(me.contiguous_end, packet.next_seq)))
      me.contiguous_end = me.next_seq;
  }
  me.window = tcp.window;
  me.has_window = true;
  const std::uint32_t last_ack = me.last_ack;
  if (has_ack) me.last_ack = packet.ack;
  if (has_ack && peer.gap_end != 0 && up_to(peer.gap_end, packet.ack)) peer.gap_end = 0;
  me.last_ns = time_ns;
  me.kept_alive = marks.has(TcpMark::keep_alive);
  me.probed = is_probe;
  if (has_ack) take_ack(packet.ack, tcp.ts_echo, last_ack, time_ns, peer.segments(), segments, finding);
  note_handshake(connection, from, packet, finding);
  if (refuses) {  // its numbers do not begin a connection
    segments.clear(me.unacked);
    me = {};
  }
}

}  // namespace parshall
