// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/labels/label_reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/keyed_hash.hpp"
#include "pipeline/decode/application/payload.hpp"
#include "pipeline/flow/both_ways.hpp"

namespace parshall {
namespace {

/// Returns the hash of a connection, which is the same on every machine and in every run.
std::uint64_t hash_of_connection(const FlowKey& both) noexcept {
  static const KeyedHash kHash(0x6c61'6265'6c73);
  std::array<std::uint64_t, sizeof(FlowKey) / sizeof(std::uint64_t)> words{};
  std::memcpy(words.data(), &both, both.significant_bytes());
  std::uint64_t hash = 0;
  for (const std::uint64_t word : words) hash = kHash.portable(hash, word);
  return hash;
}

bool has_payload(const RawPacket& packet, IpHeader header, const FlowKey& key) noexcept {
  constexpr std::uint8_t kTcp = 6, kUdp = 17;
  Payload payload;
  if (key.protocol != kTcp && key.protocol != kUdp) return true;
  return read_payload(packet, header, payload) && !payload.bytes.empty();
}

}  // namespace

void LabelReader::read(std::byte* at, const RawPacket& packet) noexcept {
  FlowLabel::State state = FlowLabel::state_of(at);
  IpPacket found;
  if (!find_ip_packet(packet, header_, found)) return;
  const auto [both, way] = both_ways(found.key);
  const bool is_first = state.flow == 0;
  if (is_first) {
    state.connection = hash_of_connection(both);
    if (labeller_->chooses(state.connection))
      state.flow = flows_ = std::max(flows_ + 1, 1U);
    else
      state = {};
  }
  const bool is_inspected = state.is_open && has_payload(packet, header_, found.key);
  if (is_inspected) state.is_open = ++state.sent != FlowLabel::kPackets;
  // The first packet also tells that earlier flows with these addresses and ports have ended.
  if (is_inspected || (is_first && state.flow != 0))
    feed_.send(state.connection, state.flow, way, packet.time_ns,
               is_inspected ? found.bytes : std::span<const std::uint8_t>());
  std::memcpy(at, &state, sizeof state);
}

}  // namespace parshall
