// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"
#include "pipeline/flow/lines.hpp"
#include "pipeline/flow/spilled_counts.hpp"
#include "pipeline/flow/table.hpp"

namespace parshall {

/// Storage of the bucketed table: cache lines with what every packet touches, and separate arrays with everything rare.
///
/// A flow's home is one line. The flow is in its home or in line home ^ k, k < kReach. Its mark holds k. Each home line
/// counts its flows that are in other lines, and how far away they are.
///
/// Memory: the number of lines is a power of two, at least 32. There are kSlotsPerFlow slots for each flow asked for,
///         or up to twice as many. A line has 66 bytes. A slot has 9 more in arrays, 24 if its flow spills, 32 if it is
///         IPv6, and 16 where the line holds no key. All of it is mapped once, committed when touched, and never grows.
template <class Line>
class BucketStore {
 public:
  static constexpr std::uint32_t kReach = 32;  ///< number of lines that a flow may be in, a power of two
  static constexpr std::size_t kMaxFlows = std::size_t{1} << 28;
  static constexpr std::size_t kSlotsPerFlow =
      3;  ///< at least, at full size. With 2, every tenth packet needs a second line (docs/dead-ends.md)
  static constexpr std::size_t kLeastFlows = std::size_t{1} << 14;  ///< initial room of a growing table

  /// Makes a store for `flows` flows. It uses all lines or, if it grows, at first as many as kLeastFlows need.
  BucketStore(std::size_t flows, const TableMemory& memory)
      : lines_(lines_for(flows)),
        first_ns_(slots_for(flows)),
        marks_(slots_for(flows)),
        spilled_(slots_for(flows), /*huge_pages=*/false),
        heads_(Line::kExact ? 0 : slots_for(flows), /*huge_pages=*/false),
        ipv6_addresses_(slots_for(flows), /*huge_pages=*/false),
        displaced_(lines_for(flows)),
        line_count_(
            static_cast<std::uint32_t>(lines_for(memory.grow_by != nullptr ? std::min(flows, kLeastFlows) : flows))) {
    if (!memory.populate) return;
    lines_.populate();
    first_ns_.populate();
  }

  /// Returns a power of two, so that a shift finds a home.
  static constexpr std::size_t lines_for(std::size_t flows) noexcept {
    const std::size_t lines = (flows * kSlotsPerFlow + Line::kSlots - 1) / Line::kSlots;
    return std::bit_ceil(std::max<std::size_t>(lines, kReach));
  }
  static std::size_t slots_for(std::size_t flows) noexcept { return lines_for(flows) * Line::kSlots; }

  /// Returns the most memory that a store for `flows` flows ever uses. `flows` is at most kMaxFlows.
  static std::size_t memory_bytes(std::size_t flows) noexcept {
    return lines_for(flows) * (sizeof(Line) + sizeof(Displaced)) +
           slots_for(flows) * (sizeof(std::uint64_t) + sizeof(std::uint8_t) + sizeof(SpilledCounts) +
                               (Line::kExact ? 0 : sizeof(KeyHead)) + sizeof(Ipv6Addresses));
  }

  Line* lines() noexcept { return lines_.data(); }
  const Line* lines() const noexcept { return lines_.data(); }
  std::uint32_t line_count() const noexcept { return line_count_; }
  std::uint32_t slots() const noexcept { return line_count_ * Line::kSlots; }
  bool full_size() const noexcept { return line_count_ == lines_.size(); }
  void double_lines() noexcept { line_count_ *= 2; }  ///< requires !full_size()

  /// Returns by how much to shift a hash to get its home line.
  unsigned home_shift() const noexcept { return 64 - static_cast<unsigned>(std::countr_zero(line_count_)); }
  std::uint32_t home(std::uint64_t hash) const noexcept { return static_cast<std::uint32_t>(hash >> home_shift()); }

  /// Prefetches what inserting a flow into `line` touches elsewhere. The neighbour comes first, as it shows whether the
  /// flow is new.
  void prefetch_beside(std::uint32_t line) const noexcept {
    prefetch_line(&lines_[line ^ 1]);
    prefetch_line(&first_ns_[line * Line::kSlots]);
    prefetch_line(&marks_[line * Line::kSlots]);
    prefetch_line(&displaced_[line]);
  }

  Line& line_of(std::uint32_t slot) noexcept { return lines_[slot / Line::kSlots]; }
  const Line& line_of(std::uint32_t slot) const noexcept { return lines_[slot / Line::kSlots]; }
  std::uint64_t& first_ns(std::uint32_t slot) noexcept { return first_ns_[slot]; }
  std::uint64_t last_ns(std::uint32_t slot) const noexcept { return line_of(slot).last_ns[slot % Line::kSlots]; }
  std::uint64_t& last_ns(std::uint32_t slot) noexcept { return line_of(slot).last_ns[slot % Line::kSlots]; }
  CountWord& counts(std::uint32_t slot) noexcept { return line_of(slot).counts[slot % Line::kSlots]; }

  bool occupied(std::uint32_t slot) const noexcept { return line_of(slot).occupied(slot % Line::kSlots); }

  /// Returns how many lines, home ^ k for all smaller k, hold all flows of this home.
  std::uint32_t reach(std::uint32_t home_line) const noexcept { return 1u + displaced_[home_line].farthest; }

  FlowKey key(std::uint32_t slot) const noexcept {
    FlowKey key;
    KeyHead head;
    if constexpr (Line::kExact)
      head = line_of(slot).head(slot % Line::kSlots);
    else
      head = heads_[slot];
    std::memcpy(static_cast<void*>(&key), &head, sizeof head);
    if (key.ip_version != 4) {
      key.ip_version = 6;
      key.address = ipv6_addresses_[slot];
    }
    return key;
  }

  /// Returns whether the addresses match after equal heads. For IPv4 the head decides; for IPv6 it holds only a hash of
  /// the addresses.
  bool same_addresses(std::uint32_t slot, const FlowKey& key) const noexcept {
    return !Line::kExact || key.ip_version == 4 || ipv6_addresses_[slot] == key.address;
  }

  FlowRecord record(std::uint32_t slot) const noexcept {
    const CountWord word = line_of(slot).counts[slot % Line::kSlots];
    SpilledCounts sum = spilled(slot);
    sum.add(word);
    return {.key = key(slot),
            .packets = sum.packets,
            .ip_bytes = sum.ip_bytes,
            .wire_bytes = sum.ip_bytes + static_cast<std::uint64_t>(sum.extra_bytes),
            .first_ns = first_ns_[slot],
            .last_ns = line_of(slot).last_ns[slot % Line::kSlots],
            .tcp_flags = word.tcp_flags()};
  }

  struct Room {
    std::uint32_t displacement;  ///< kReach if there is no room
    unsigned i;
  };

  /// Returns the nearest free slot in reach of a home line.
  Room find_room(std::uint32_t home_line) const noexcept {
    for (std::uint32_t k = 0; k < kReach; ++k)
      for (unsigned i = 0; i < Line::kSlots; ++i)
        if (!lines_[home_line ^ k].occupied(i)) return {k, i};
    return {kReach, 0};
  }

  /// Puts the flow of `facts` there, leaving old counters and times in place. Returns its slot.
  std::uint32_t put(std::uint32_t home_line, Room room, const PacketFacts& facts) noexcept {
    const std::uint32_t at = home_line ^ room.displacement;
    const std::uint32_t slot = at * Line::kSlots + room.i;
    lines_[at].put(room.i, facts);
    if constexpr (!Line::kExact) std::memcpy(&heads_[slot], &facts.key, FlowKey::kHeadBytes);
    if (facts.key.ip_version != 4) ipv6_addresses_[slot] = facts.key.address;
    if (marks_[slot] != room.displacement) marks_[slot] = static_cast<std::uint8_t>(room.displacement);
    if (room.displacement != 0) note_displaced(home_line, room.displacement);
    return slot;
  }

  void clear(std::uint32_t slot) noexcept {
    if (const std::uint32_t displacement = marks_[slot] & kDisplacement; displacement != 0)
      forget_displaced(slot / Line::kSlots ^ displacement);
    line_of(slot).clear(slot % Line::kSlots);
  }

  SpilledCounts spilled(std::uint32_t slot) const noexcept {
    return (marks_[slot] & kSpilled) != 0 ? spilled_[slot] : SpilledCounts{};
  }
  void set_spilled(std::uint32_t slot, const SpilledCounts& counts) noexcept {
    marks_[slot] |= kSpilled;
    spilled_[slot] = counts;
  }
  void forget_spilled(std::uint32_t slot) noexcept {
    if ((marks_[slot] & kSpilled) != 0) marks_[slot] &= static_cast<std::uint8_t>(~kSpilled);
  }

 private:
  using Ipv6Addresses = std::array<std::uint8_t, 32>;
  static constexpr std::uint8_t kSpilled = 0x80, kDisplacement = kReach - 1;

  /// Summary of a home line's flows that are in other lines.
  struct Displaced {
    std::uint8_t flows = 0;
    std::uint8_t farthest = 0;  ///< largest displacement since there were none; 0 if there are none
  };
  static_assert((kReach - 1) * Line::kSlots <= 0xFF);

  void note_displaced(std::uint32_t home_line, std::uint32_t displacement) noexcept {
    Displaced& displaced = displaced_[home_line];
    ++displaced.flows;
    displaced.farthest = std::max(displaced.farthest, static_cast<std::uint8_t>(displacement));
  }
  void forget_displaced(std::uint32_t home_line) noexcept {
    Displaced& displaced = displaced_[home_line];
    if (--displaced.flows == 0) displaced.farthest = 0;
  }

  HugeBuffer<Line> lines_;
  HugeBuffer<std::uint64_t> first_ns_;
  HugeBuffer<std::uint8_t> marks_;  ///< kSpilled, and the displacement: the slot's line is home ^ displacement
  HugeBuffer<SpilledCounts> spilled_;
  HugeBuffer<KeyHead> heads_;
  HugeBuffer<Ipv6Addresses> ipv6_addresses_;
  HugeBuffer<Displaced> displaced_;  ///< by home line
  std::uint32_t line_count_;         ///< lines in use, from the first
};

}  // namespace parshall
