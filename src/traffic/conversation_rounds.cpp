// SPDX-License-Identifier: Apache-2.0
#include "traffic/conversation_rounds.hpp"

#include <cstring>

#include "traffic/flow_frames.hpp"
#include "traffic/frame.hpp"
#include "traffic/tcp_frames.hpp"

namespace parshall {
namespace {

constexpr std::size_t kFrames = 4 * TcpFrames::kMostPackets;
constexpr std::size_t kSequence = 4, kAcknowledgment = 8, kFlags = 13, kChecksum = 16;  // RFC 9293, section 3.1
constexpr std::uint8_t kAck = 0x10;

/// Adds to a number. Returns the change of a checksum: the sum of the words' differences (RFC 1624, equation 3).
std::uint32_t add(std::uint8_t* at, std::uint32_t by) noexcept {
  const std::uint32_t old = get32(at), now = old + by;
  put32(at, now);
  return (~old >> 16) + (~old & 0xFFFF) + (now >> 16) + (now & 0xFFFF);
}

}  // namespace

ConversationRounds::ConversationRounds(std::shared_ptr<const Trace> trace) : trace_(std::move(trace)) {
  if (trace_->advances().empty()) return;
  lines_ = (trace_->longest_frame() + sizeof(Line) - 1) / sizeof(Line);
  ring_ = std::vector<Line>(kFrames * lines_);
}

void ConversationRounds::put_into(std::span<RawPacket> packets, std::uint64_t number) noexcept {
  if (ring_.empty()) return;
  auto round = static_cast<std::uint32_t>(number / trace_->packets());
  std::uint64_t at = number % trace_->packets();
  for (RawPacket& packet : packets) {
    move_on(packet, round, at);
    if (++at == trace_->packets()) {
      at = 0;
      ++round;
    }
  }
}

void ConversationRounds::put_into(std::span<RawPacket> packets, std::span<const std::uint64_t> numbers) noexcept {
  if (ring_.empty()) return;
  const std::uint64_t round_packets = trace_->packets();
  for (std::size_t i = 0; i < packets.size(); ++i)
    move_on(packets[i], static_cast<std::uint32_t>(numbers[i] / round_packets), numbers[i] % round_packets);
}

/// Changes the packet at position `at` of a round to that round's numbers.
void ConversationRounds::move_on(RawPacket& packet, std::uint32_t round, std::uint64_t at) noexcept {
  if (round == 0 || (trace_->floods() && trace_->is_flood(at))) return;
  const std::uint32_t flow = trace_->flow_of(at);
  const std::uint32_t own = trace_->advances()[flow], others = trace_->advances()[flow ^ 1];
  if ((own | others) != 0) move_on(packet, Advance{round * own, round * others});
}

void ConversationRounds::move_on(RawPacket& packet, Advance by) noexcept {
  std::uint8_t* const frame = ring_[at_].bytes;
  at_ = at_ + lines_ == ring_.size() ? 0 : at_ + lines_;
  // Copies whole lines of known size; frames begin at lines.
  for (std::size_t at = 0; at < packet.captured_bytes; at += sizeof(Line))
    std::memcpy(frame + at, packet.data + at, sizeof(Line));
  packet.data = frame;
  std::uint8_t* const ip = frame + trace_->link_bytes();
  std::uint8_t* const tcp = ip + FlowTuple{.ipv6 = ip[0] >> 4 == 6}.ip_header_bytes();
  std::uint32_t sum = ~std::uint32_t{get16(tcp + kChecksum)} & 0xFFFF;
  sum += add(tcp + kSequence, by.sequence);
  if ((tcp[kFlags] & kAck) != 0) sum += add(tcp + kAcknowledgment, by.acknowledgment);
  sum = (sum & 0xFFFF) + (sum >> 16);
  put16(tcp + kChecksum, ~(sum + (sum >> 16)));
}

}  // namespace parshall
