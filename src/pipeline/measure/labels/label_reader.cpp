// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/labels/label_reader.hpp"

#include <array>
#include <cstring>

#include "base/keyed_hash.hpp"
#include "pipeline/decode/application/payload.hpp"
#include "pipeline/flow/both_ways.hpp"

namespace parshall {
namespace {

constexpr std::uint8_t kTcp = 6, kUdp = 17;

/// Returns the hash of a connection, which is the same on every machine and in every run.
std::uint64_t hash_of_connection(const FlowKey& both) noexcept {
  static const KeyedHash kHash(0x6c61'6265'6c73);
  std::array<std::uint64_t, sizeof(FlowKey) / sizeof(std::uint64_t)> words{};
  std::memcpy(words.data(), &both, both.significant_bytes());
  std::uint64_t hash = 0;
  for (const std::uint64_t word : words) hash = kHash.portable(hash, word);
  return hash;
}

/// Returns whether a packet is inspected: TCP and UDP with payload, and all other protocols.
bool is_inspected(const RawPacket& packet, IpHeader header, const FlowKey& key, Payload& payload) noexcept {
  if (key.protocol != kTcp && key.protocol != kUdp) return true;
  return read_payload(packet, header, payload) && !payload.bytes.empty();
}

}  // namespace

void LabelReader::read(std::byte* at, const RawPacket& packet) noexcept {
  constexpr std::uint16_t kSyn = 2, kAck = 16;
  FlowLabel::State state = FlowLabel::state_of(at);
  IpPacket found;
  if (!find_ip_packet(packet, header_, found)) return;
  if (state.packets == 0) {
    state.connection = hash_of_connection(both_ways(found.key).first);
    state.began_ns = packet.time_ns;
    state.is_open = state.is_chosen = labeller_->chooses(state.connection);
  }
  if (state.is_open) {
    if (feed_ == nullptr) feed_ = &labeller_->add_feed(can_wait_);
    Payload payload;
    if (is_inspected(packet, header_, found.key, payload)) {
      feed_->send(state.connection, packet.time_ns, found.key.protocol == kTcp, found.bytes);
      ++state.sent;
    } else if (state.packets == 0 && (found.tcp_flags & (kSyn | kAck)) == kSyn) {
      feed_->send_syn(state.connection, packet.time_ns, payload.seq);
    }
  }
  ++state.packets;
  if (state.packets == FlowLabel::kPackets || state.sent == FlowLabel::kSent) state.is_open = false;
  std::memcpy(at, &state, sizeof state);
}

}  // namespace parshall
