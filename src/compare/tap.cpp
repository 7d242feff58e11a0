// SPDX-License-Identifier: Apache-2.0
#include "compare/tap.hpp"

#include <algorithm>
#include <array>

namespace parshall {

std::size_t FlowNumbers::Hash::operator()(const FlowKey& key) const noexcept {
  std::array<std::uint8_t, 48> padded{};
  std::copy_n(reinterpret_cast<const std::uint8_t*>(&key), key.significant_bytes(), padded.begin());
  const auto load = [&](std::size_t at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(&padded[at])); };
  return hash(load(0), load(16), load(32));
}

void read_tap(PacketSource& source, const PacketIds& ids, const std::function<bool()>& stop, FlowNumbers& flows,
              Tap& tap) {
  std::array<RawPacket, 256> batch;
  while (!source.exhausted() && !stop()) {
    const std::size_t polled = source.poll(batch);
    for (std::size_t i = 0; i < polled; ++i) {
      tap.first_ns = std::min(tap.first_ns, batch[i].time_ns);
      tap.last_ns = std::max(tap.last_ns, batch[i].time_ns);
      const auto order = static_cast<std::uint32_t>(tap.packets++);
      SeenPacket packet;
      const Verdict verdict = ids.read(batch[i], packet);
      if (verdict == Verdict::not_ip) {
        ++tap.not_ip;
      } else if (verdict != Verdict::counted) {
        ++tap.malformed;
      } else if (!packet.has_id) {
        ++tap.later_fragments;
      } else {
        tap.cut += packet.is_cut;
        tap.seen.push_back({packet.id, packet.time_ns, order, flows.of(packet.key), packet.ttl});
      }
    }
  }
}

}  // namespace parshall
