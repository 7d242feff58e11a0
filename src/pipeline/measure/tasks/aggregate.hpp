// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "pipeline/measure/tasks/key_part.hpp"
#include "pipeline/measure/tasks/key_table.hpp"
#include "pipeline/measure/windows/window.hpp"

namespace parshall {

/// Sum over the flows of a key in a window; `flows` counts their records.
struct KeyCounts {
  std::uint64_t packets = 0, ip_bytes = 0, wire_bytes = 0, flows = 0, new_flows = 0;

  void add(const FlowWindow& flow, std::uint64_t states) noexcept {
    packets += flow.packets;
    ip_bytes += flow.ip_bytes;
    wire_bytes += flow.wire_bytes;
    flows += flow.first_in(states);
    new_flows += flow.starts;
  }
  void add(const KeyCounts& other) noexcept {
    packets += other.packets;
    ip_bytes += other.ip_bytes;
    wire_bytes += other.wire_bytes;
    flows += other.flows;
    new_flows += other.new_flows;
  }
  void add(const UnreadFlows& other) noexcept;
  void raise_to(const KeyCounts& other) noexcept;
};

/// A number of KeyCounts that a task can use.
struct Amount {
  std::string_view name;  ///< name with its unit
  std::uint64_t KeyCounts::*of;
};
inline constexpr Amount kAmounts[] = {{"packets", &KeyCounts::packets},
                                      {"ip_bytes", &KeyCounts::ip_bytes},
                                      {"wire_bytes", &KeyCounts::wire_bytes},
                                      {"flows", &KeyCounts::flows},
                                      {"new_flows", &KeyCounts::new_flows}};

/// The window's counts by a part of the key.
///
/// Error: none while the window has at most `capacity` keys. With more, the half with the fewest packets is dropped, as
///        often as necessary. Then each count of a key lacks at most most_missing(): the sum, over the drops, of the
///        most that any dropped key had. All keys together lack dropped(). So a flood with a packet from each of very
///        many keys costs a heavy key one packet a drop.
/// Cost:  per drop, a pass over the keys. A drop occurs once for every half of them that is new.
/// Shape: 88 bytes a key, 16 of the index, and 8 to find the median.
class Aggregate {
 public:
  using Table = KeyTable<KeyCounts>;

  /// `states` are those of the flows passed to it.
  Aggregate(KeyPart part, std::size_t capacity, std::uint64_t seed, std::uint64_t states);

  static std::size_t memory_bytes(std::size_t capacity) noexcept {
    return Table::memory_bytes(capacity) + capacity * sizeof(std::uint64_t);
  }

  const KeyPart& part() const noexcept { return part_; }
  void add(std::span<const FlowWindow> flows) noexcept;
  void clear() noexcept;

  std::span<const Table::Entry> entries() const noexcept { return table_.entries(); }
  const KeyCounts& most_missing() const noexcept { return most_missing_; }
  const KeyCounts& dropped() const noexcept { return dropped_; }
  std::uint64_t dropped_keys() const noexcept { return dropped_keys_; }
  std::uint64_t drops() const noexcept { return drops_; }

 private:
  void make_room() noexcept;

  KeyPart part_;
  std::uint64_t states_;
  Table table_;
  std::vector<std::uint64_t> scratch_;
  KeyCounts most_missing_, dropped_;
  std::uint64_t dropped_keys_ = 0, drops_ = 0;
};

}  // namespace parshall
