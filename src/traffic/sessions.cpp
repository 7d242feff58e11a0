// SPDX-License-Identifier: Apache-2.0
#include "traffic/sessions.hpp"

#include <algorithm>

#include "base/random.hpp"

namespace parshall {
namespace {

constexpr std::uint32_t kLeastFrame = FrameSizes::kLeast - kFcsBytes, kMtu = 1500;
constexpr std::uint32_t kLeastData = 2;              // one byte sent again looks like a keep-alive
constexpr std::uint32_t kOpening = 3, kClosing = 3;  // packets

/// A connection while roles are assigned to its packets.
struct Connection {
  std::uint32_t packets = 0;                ///< packets in all
  std::uint32_t gone = 0;                   ///< packets assigned so far
  std::uint8_t unacknowledged[2] = {0, 0};  ///< segments of each end since the other one sent anything
  bool again = false;                       ///< true if the last segment is sent once more
  std::uint8_t sender = 0;                  ///< sender of that segment

  std::uint32_t closes_at() const noexcept { return packets < kOpening + kClosing ? kOpening : packets - kClosing; }
};

}  // namespace

Sessions::Sessions(const TrafficSpec& spec, std::span<std::uint32_t> flow_of, const std::vector<bool>& others)
    : spec_(spec),
      mtu_(std::max(kMtu, spec.sizes.most() - FlowFrames(spec).link_bytes() - kFcsBytes)),
      kinds_(flow_of.size()),
      ends_(spec.flows) {
  const auto is_other = [&others](std::size_t i) { return !others.empty() && others[i]; };
  std::vector<Connection> connections(spec.flows / 2);
  for (std::size_t i = 0; i < flow_of.size(); ++i)
    if (!is_other(i)) ++connections[flow_of[i] / 2].packets;
  SplitMix64 random(~spec.seed);
  for (std::size_t i = 0; i < flow_of.size(); ++i) {
    if (is_other(i)) continue;
    Connection& connection = connections[flow_of[i] / 2];
    const std::uint32_t at = connection.gone++, closes_at = connection.closes_at();
    std::uint8_t sender = flow_of[i] & 1;
    if (at < kOpening) {
      sender = at == 1;
      kinds_[i] = at == 0 ? Kind::syn : at == 1 ? Kind::syn_ack : Kind::ack;
    } else if (at >= closes_at) {
      sender = at == closes_at + 1;
      kinds_[i] = at < closes_at + 2 ? Kind::fin : Kind::ack;
    } else if (connection.again) {
      connection.again = false;
      sender = connection.sender;
      kinds_[i] = Kind::again;
    } else if (connection.unacknowledged[sender] >= 2) {
      sender ^= 1;
      kinds_[i] = Kind::ack;
    } else {
      kinds_[i] = Kind::data;
      ++connection.unacknowledged[sender];
      connection.sender = sender;
      connection.again = at + 1 < closes_at && spec.resend_share > 0 && random.uniform() < spec.resend_share;
    }
    connection.unacknowledged[sender ^ 1] = 0;
    flow_of[i] = (flow_of[i] & ~1u) | sender;
  }
}

std::vector<std::uint16_t> Sessions::frame_bytes(std::span<const std::uint32_t> flow_of) const {
  const FlowTuples tuples(spec_);
  const FlowFrames frames(spec_);
  const std::uint32_t least = frames.header_bytes({.ipv6 = spec_.ipv6_share > 0, .tcp = true}) + kLeastData;
  const auto dealt = spec_.sizes.deal(static_cast<std::uint64_t>(std::ranges::count(kinds_, Kind::data)),
                                      SplitMix64::mix(spec_.seed) + 1);
  auto next = dealt.begin();
  std::vector<std::uint16_t> bytes(kinds_.size()), last(ends_.size());
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    if (kinds_[i] == Kind::none) {
      bytes[i] = kLeastFrame;
    } else if (kinds_[i] == Kind::data) {
      bytes[i] = last[flow_of[i]] = static_cast<std::uint16_t>(std::max(*next++ - kFcsBytes, least));
    } else if (kinds_[i] == Kind::again) {
      bytes[i] = last[flow_of[i]];
    } else {
      const std::uint32_t headers =
          frames.header_bytes(tuples(flow_of[i])) + (has_option(kinds_[i]) ? Segment::kMssOptionBytes : 0);
      bytes[i] = static_cast<std::uint16_t>(std::max(kLeastFrame, headers));
    }
  }
  return bytes;
}

Segment Sessions::segment(std::uint64_t at, std::uint64_t number, std::uint32_t room) noexcept {
  constexpr std::uint8_t kFinBit = 0x01, kSynBit = 0x02, kPshBit = 0x08, kAckBit = 0x10;
  End& end = ends_[number];
  const End& peer = ends_[number ^ 1];
  const Kind kind = kinds_[at];
  if (has_option(kind)) {
    end.next = first_sequence(number);
    end.has_begun = true;
  }
  Segment segment{.mss_of_mtu = has_option(kind) ? mtu_ : 0,
                  .sequence = end.next,
                  .acknowledgment = peer.next,
                  .window = 0xFFFF,
                  .flags = kAckBit};
  switch (kind) {
    case Kind::syn:
      segment.acknowledgment = 0;
      segment.flags = kSynBit;
      ++end.next;
      break;
    case Kind::syn_ack:
      segment.flags = kSynBit | kAckBit;
      ++end.next;
      break;
    case Kind::data:
      segment.payload_bytes = end.last = room;
      segment.flags = kPshBit | kAckBit;
      end.next += room;
      break;
    case Kind::again:
      segment.payload_bytes = end.last;
      segment.sequence -= end.last;
      segment.flags = kPshBit | kAckBit;
      break;
    case Kind::fin:
      segment.flags = kFinBit | kAckBit;
      ++end.next;
      break;
    default:
      break;
  }
  return segment;
}

std::vector<std::uint32_t> Sessions::advances() const {
  std::vector<std::uint32_t> advances(ends_.size());
  for (std::size_t number = 0; number < ends_.size(); ++number)
    if (ends_[number].has_begun) advances[number] = ends_[number].next - first_sequence(number);
  return advances;
}

std::uint32_t Sessions::first_sequence(std::uint64_t number) const noexcept {
  return static_cast<std::uint32_t>(SplitMix64::mix(SplitMix64::mix(spec_.seed) ^ number));
}

}  // namespace parshall
