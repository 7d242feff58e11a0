// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/random.hpp"
#include "pipeline/flow/bucketed_table.hpp"

namespace parshall::testing {

/// The key of flow `number`: every fifth is IPv6; equal numbers, equal keys.
inline FlowKey key_of(std::uint64_t number, bool ipv6) {
  FlowKey key;
  key.protocol = number % 3 == 0 ? 17 : 6;
  key.ip_version = ipv6 ? 6 : 4;
  key.src_port_bytes = {static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number)};
  key.dst_port_bytes = {0, 80};
  const std::uint64_t mixed = SplitMix64::mix(number);
  if (ipv6) {
    std::memcpy(key.address.data() + 8, &number, 8);
    std::memcpy(key.address.data() + 16, &mixed, 8);
  } else {
    const auto low = static_cast<std::uint32_t>(number);
    std::memcpy(key.address.data(), &low, 4);
    std::memcpy(key.address.data() + 4, &mixed, 4);
  }
  return key;
}
inline FlowKey key_of(std::uint64_t number) { return key_of(number, number % 5 == 4); }

struct PacketSpec {
  std::uint64_t time_ns = 0;
  std::uint32_t ip_bytes = 46;
  std::uint32_t wire_bytes = 60;
  std::uint32_t tcp_flags = 0;
};

inline PacketFacts facts_of(const FlowKey& key, std::uint64_t hash, PacketSpec packet = {}) {
  PacketFacts facts;
  facts.key = key;
  facts.hash = hash;
  facts.time_ns = packet.time_ns;
  facts.counts = CountWord::packet(packet.ip_bytes, packet.wire_bytes, packet.tcp_flags);
  return facts;
}

/// A hash that makes `line` the home of a flow in a table of `lines` lines. `tag` fills the low 32 bits.
inline std::uint64_t hash_for_line(std::uint32_t line, std::size_t lines, std::uint32_t tag) {
  const auto start = static_cast<std::uint64_t>((static_cast<unsigned __int128>(line) << 64) / lines);
  return ((start >> 32) + 1) << 32 | tag;
}

inline std::string text_of(const FlowKey& key) {
  return {reinterpret_cast<const char*>(&key), key.significant_bytes()};
}

/// Keeps every record that a table ends.
struct EndedRecords final : FlowSink {
  struct Ended {
    FlowRecord record;
    std::uint32_t slot;
    std::size_t counted;
  };
  std::vector<Ended> all;
  std::uint64_t packets = 0;

  void flow_ended(FlowRecord& record, std::uint32_t slot, std::size_t counted) noexcept override {
    all.push_back({record, slot, counted});
    packets += record.packets;
  }
};

template <class Table>
SlotRef count_one(Table& table, const PacketFacts& facts) {
  SlotRef slot;
  table.update({&facts, 1}, {&slot, 1});
  return slot;
}

template <class Table>
std::optional<FlowRecord> find(const Table& table, const FlowKey& key) {
  std::optional<FlowRecord> found;
  for (std::uint32_t slot = 0; slot < table.slots(); ++slot)
    if (table.occupied(slot) && table.key(slot) == key) {
      EXPECT_FALSE(found) << "one flow in two slots";
      found = table.record(slot);
    }
  return found;
}

template <class Table>
std::uint64_t live_packets(const Table& table) {
  std::uint64_t packets = 0;
  for (std::uint32_t slot = 0; slot < table.slots(); ++slot)
    if (table.occupied(slot)) packets += table.record(slot).packets;
  return packets;
}

/// What a record must say, counted in the simplest way.
struct Expected {
  std::uint64_t packets = 0, ip_bytes = 0, wire_bytes = 0, first_ns = 0, last_ns = 0;
  std::uint16_t tcp_flags = 0;

  void add(const PacketSpec& packet) {
    first_ns = packets == 0 ? packet.time_ns : std::min(first_ns, packet.time_ns);
    last_ns = packets == 0 ? packet.time_ns : std::max(last_ns, packet.time_ns);
    ++packets;
    ip_bytes += packet.ip_bytes;
    wire_bytes += packet.wire_bytes;
    tcp_flags = static_cast<std::uint16_t>(tcp_flags | (packet.tcp_flags & 0x1FF));
  }
  static Expected of(const FlowRecord& r) {
    return {r.packets, r.ip_bytes, r.wire_bytes, r.first_ns, r.last_ns, r.tcp_flags};
  }
  auto operator<=>(const Expected&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const Expected& e) {
  return out << e.packets << " packets, " << e.ip_bytes << " ip, " << e.wire_bytes << " wire, " << e.first_ns << " to "
             << e.last_ns << ", flags " << e.tcp_flags;
}

}  // namespace parshall::testing
