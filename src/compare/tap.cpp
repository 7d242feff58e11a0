// SPDX-License-Identifier: Apache-2.0
#include "compare/tap.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/simd.hpp"

namespace parshall {

std::size_t FlowNumbers::Hash::operator()(const FlowKey& key) const noexcept {
  std::array<std::uint8_t, 48> padded{};
  std::copy_n(reinterpret_cast<const std::uint8_t*>(&key), key.significant_bytes(), padded.begin());
  return hash(simd::load(padded.data()), simd::load(padded.data() + 16), simd::load(padded.data() + 32));
}

std::vector<std::uint32_t> FlowNumbers::keep(const std::vector<bool>& kept) {
  std::vector<std::uint32_t> numbers(keys_.size(), kGone);
  std::vector<FlowKey> keys = std::exchange(keys_, {});
  numbers_.clear();
  for (std::size_t flow = 0; flow < keys.size(); ++flow)
    if (kept[flow]) numbers[flow] = of(keys[flow]);
  return numbers;
}

bool TapCounts::take(const RawPacket& packet, BpfFilter* filter, const PacketIds& ids, SeenPacket& seen) noexcept {
  first_ns = std::min(first_ns, packet.time_ns);
  last_ns = std::max(last_ns, packet.time_ns);
  const std::uint64_t order = packets++;
  if (filter != nullptr && !filter->matches(packet)) {
    ++filtered;
    return false;
  }
  const Verdict verdict = ids.read(packet, seen);
  seen.order = order;
  if (verdict != Verdict::counted) {
    ++(verdict == Verdict::not_ip ? not_ip : malformed);
    return false;
  }
  ++(seen.has_id ? compared : later_fragments);
  cut += seen.has_id && seen.is_cut;
  return seen.has_id;
}

void read_tap(PacketSource& source, BpfFilter* filter, const PacketIds& ids, const std::function<bool()>& stop,
              FlowNumbers& flows, Tap& tap) {
  std::array<RawPacket, 256> batch;
  SeenPacket packet;
  while (!source.exhausted() && !stop())
    for (std::size_t i = 0, polled = source.poll(batch); i < polled; ++i)
      if (tap.take(batch[i], filter, ids, packet)) tap.add(packet, flows);
}

}  // namespace parshall
