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

/// The default table: buckets of one cache line, counters in the line, everything rare in arrays beside.
///
/// A flow's home is one line. Where that is full, the flow goes to line home ^ k for the smallest k < kReach that
/// has room. A packet is looked for in its home line, then in the neighbour home ^ 1; the count of flows that live away
/// from that home says whether the other lines in reach need a look, or the flow is new.
///
/// Memory: kSlotsPerFlow * (64 / Line::kSlots + 9 + 24 for flows that spill + 32 for IPv6 flows + 16 where the line
///         holds no key) bytes per flow asked for, mapped once, committed when touched, never more.
/// Full:   at `flows` flows, or when all lines in reach are full, the least recently seen flow of the home
///         line and its neighbours is handed to the sink with EndReason::lack_of_resources.
template <class Line>
class BucketedTable {
 public:
  static constexpr std::uint32_t kReach = 16;  ///< lines that a flow may live in, a power of two
  static constexpr std::size_t kMaxFlows = std::size_t{1} << 28;
  static constexpr std::size_t kSlotsPerFlow =
      3;  ///< measured in docs/dead-ends.md: at 2 every tenth packet looks twice

  /// `populate`: commit the memory now; else each page costs the first packet that meets it a page fault.
  BucketedTable(std::size_t flows, Timeouts timeouts, FlowSink& sink, bool populate = false)
      : capacity_(flows),
        line_count_(static_cast<std::uint32_t>(lines_for(flows))),
        idle_ns_(timeouts.idle_ns == 0 ? kNever : timeouts.idle_ns),
        active_ns_(timeouts.active_ns),
        sink_(&sink),
        lines_(line_count_),
        first_ns_(slots()),
        marks_(slots()),
        spilled_(slots(), /*huge_pages=*/false),
        heads_(Line::kExact ? 0 : slots(), /*huge_pages=*/false),
        ipv6_addresses_(slots(), /*huge_pages=*/false),
        displaced_(line_count_) {
    if (!populate) return;
    lines_.populate();
    first_ns_.populate();
  }

  static std::size_t lines_for(std::size_t flows) noexcept {
    const std::size_t lines = (flows * kSlotsPerFlow + Line::kSlots - 1) / Line::kSlots;
    return (lines + kReach - 1) / kReach * kReach;
  }
  static std::size_t slots_for(std::size_t flows) noexcept { return lines_for(flows) * Line::kSlots; }

  /// The most that a table for `flows` flows ever uses. At most kMaxFlows.
  static std::size_t memory_bytes(std::size_t flows) noexcept {
    const std::size_t lines = lines_for(flows);
    return lines * (sizeof(Line) + sizeof(std::uint16_t)) +
           lines * Line::kSlots *
               (sizeof(std::uint64_t) + sizeof(std::uint8_t) + sizeof(SpilledCounts) +
                (Line::kExact ? 0 : sizeof(KeyHead)) + sizeof(Ipv6Addresses));
  }

  /// Asks for the memory that a hash's packets will touch; by value, so that it stays in registers.
  class Prefetcher {
   public:
    explicit Prefetcher(const BucketedTable& table) noexcept
        : lines_(table.lines_.data()), line_count_(table.line_count_) {}
    [[gnu::always_inline]] void operator()(std::uint64_t hash) const noexcept {
      prefetch_line(&lines_[home(hash, line_count_)]);
    }

   private:
    const Line* lines_;
    std::uint64_t line_count_;
  };
  Prefetcher prefetcher() const noexcept { return Prefetcher(*this); }

  void update(std::span<const PacketFacts> packets, std::span<SlotRef> slots) noexcept {
    Line* const lines = lines_.data();
    const std::uint64_t line_count = line_count_;
    const std::uint64_t rare_after_ns = active_ns_ != 0 ? 0 : idle_ns_;
    SlotRef* out = slots.data();
    for (const PacketFacts& facts : packets) {
      std::uint64_t at = home(facts.hash, line_count);
      const auto probe = Line::probe_ipv4(facts);
      std::uint64_t matches = lines[at].match(probe);
      if (matches == 0) [[unlikely]] {
        at ^= 1;
        matches = lines[at].match(probe);
        if (matches == 0) {
          done_ = static_cast<std::size_t>(out - slots.data());
          *out++ = update_elsewhere(facts, static_cast<std::uint32_t>(at ^ 1));
          continue;
        }
      }
      Line& line = lines[at];
      const auto i = static_cast<std::uint64_t>(std::countr_zero(matches));
      const std::uint64_t time_ns = facts.time_ns;
      const CountWord sum = line.counts[i].plus(facts.counts);
      const auto slot = static_cast<std::uint32_t>(at * Line::kSlots + i);
      // The difference is huge when the packet is late.
      if (time_ns - line.last_ns[i] > rare_after_ns || sum.overflowed()) [[unlikely]] {
        done_ = static_cast<std::size_t>(out - slots.data());
        *out++ = count_rare(slot, facts);
        continue;
      }
      line.counts[i] = sum;
      line.last_ns[i] = time_ns;
      *out++ = {slot, false};
    }
  }

  /// Takes over a flow of a smaller table, with its counters; `hash` is what its packets will come with.
  void adopt(const BucketedTable& from, std::uint32_t from_slot, std::uint64_t hash) noexcept {
    const std::uint32_t home_line = home(hash, line_count_);
    const auto [displacement, i] = find_room(home_line);
    const std::uint32_t slot = (home_line ^ displacement) * Line::kSlots + i;
    Line& line = line_of(slot);
    const Line& old = from.line_of(from_slot);
    const unsigned old_i = from_slot % Line::kSlots;
    line.copy(i, old, old_i);
    if constexpr (!Line::kExact) heads_[slot] = from.heads_[from_slot];
    if (from.key(from_slot).ip_version != 4) ipv6_addresses_[slot] = from.ipv6_addresses_[from_slot];
    line.counts[i] = old.counts[old_i];
    line.last_ns[i] = old.last_ns[old_i];
    first_ns_[slot] = from.first_ns_[from_slot];
    occupy(slot, home_line, displacement);
    if ((from.marks_[from_slot] & kSpilled) == 0) return;
    marks_[slot] |= kSpilled;
    spilled_[slot] = from.spilled_[from_slot];
  }

  bool occupied(std::uint32_t slot) const noexcept { return line_of(slot).occupied(slot % Line::kSlots); }

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

  FlowRecord record(std::uint32_t slot) const noexcept {
    const CountWord word = line_of(slot).counts[slot % Line::kSlots];
    SpilledCounts sum = (marks_[slot] & kSpilled) != 0 ? spilled_[slot] : SpilledCounts{};
    sum.add(word);
    return {.key = key(slot),
            .packets = sum.packets,
            .ip_bytes = sum.ip_bytes,
            .wire_bytes = sum.ip_bytes + static_cast<std::uint64_t>(sum.extra_bytes),
            .first_ns = first_ns_[slot],
            .last_ns = line_of(slot).last_ns[slot % Line::kSlots],
            .tcp_flags = word.tcp_flags()};
  }

  std::uint32_t slots() const noexcept { return line_count_ * Line::kSlots; }
  std::size_t size() const noexcept { return size_; }
  std::size_t capacity() const noexcept { return capacity_; }

  /// Ends the idle flows among the next `lines` lines of an endless round through the table.
  void sweep(std::uint64_t now_ns, std::uint32_t lines) noexcept {
    done_ = 0;
    for (std::uint32_t n = 0; n < lines; ++n, hand_ = hand_ + 1 == line_count_ ? 0 : hand_ + 1)
      for (unsigned i = 0; i < Line::kSlots; ++i) {
        const std::uint64_t last_ns = lines_[hand_].last_ns[i];
        if (lines_[hand_].occupied(i) && now_ns > last_ns && now_ns - last_ns > idle_ns_)
          end(hand_ * Line::kSlots + i, EndReason::idle_timeout);
      }
  }

 private:
  using Ipv6Addresses = std::array<std::uint8_t, 32>;
  static constexpr std::uint8_t kSpilled = 0x80, kDisplacement = kReach - 1;
  static constexpr std::uint64_t kNever = 1ull << 63;  ///< still below the difference of a late packet

  [[gnu::always_inline]] static std::uint32_t home(std::uint64_t hash, std::uint64_t line_count) noexcept {
    return static_cast<std::uint32_t>((hash >> 32) * line_count >> 32);
  }

  Line& line_of(std::uint32_t slot) noexcept { return lines_[slot / Line::kSlots]; }
  const Line& line_of(std::uint32_t slot) const noexcept { return lines_[slot / Line::kSlots]; }

  /// Equal heads settle IPv4; of IPv6 the head holds only a hash of the addresses.
  bool same_addresses(std::uint32_t slot, const PacketFacts& facts) const noexcept {
    return !Line::kExact || facts.key.ip_version == 4 || ipv6_addresses_[slot] == facts.key.address;
  }

  SlotRef count(std::uint32_t slot, const PacketFacts& facts) noexcept {
    Line& line = line_of(slot);
    const unsigned i = slot % Line::kSlots;
    const CountWord word = line.counts[i].plus(facts.counts);
    if (word.overflowed() || facts.time_ns - line.last_ns[i] > idle_ns_ || active_ns_ != 0) [[unlikely]]
      return count_rare(slot, facts);
    line.counts[i] = word;
    line.last_ns[i] = facts.time_ns;
    return {slot, false};
  }

  /// A carry, a late packet, lengths that do not fit the packed word, or a timeout.
  [[gnu::noinline]] SlotRef count_rare(std::uint32_t slot, const PacketFacts& facts) noexcept {
    Line& line = line_of(slot);
    const unsigned i = slot % Line::kSlots;
    const bool late = facts.time_ns < line.last_ns[i];
    const bool idle = !late && idle_ns_ != kNever && facts.time_ns - line.last_ns[i] > idle_ns_;
    const bool active =
        active_ns_ != 0 && facts.time_ns > first_ns_[slot] && facts.time_ns - first_ns_[slot] > active_ns_;
    if (idle || active) {
      FlowRecord ended = record(slot);
      ended.end_reason = idle ? EndReason::idle_timeout : EndReason::active_timeout;
      sink_->flow_ended(ended, slot, done_);
      start(slot, facts);
      return {slot, true};
    }
    spill(slot, facts.counts);
    if (late)
      first_ns_[slot] = std::min(first_ns_[slot], facts.time_ns);
    else
      line.last_ns[i] = facts.time_ns;
    return {slot, false};
  }

  void spill(std::uint32_t slot, CountWord packet) noexcept {
    CountWord& word = line_of(slot).counts[slot % Line::kSlots];
    SpilledCounts& spilled = spilled_[slot];
    if ((marks_[slot] & kSpilled) == 0) spilled = {};
    marks_[slot] |= kSpilled;
    spilled.add(word);
    spilled.add(packet);
    word = CountWord((word.bits() | packet.bits()) & CountWord::kFlagMask);
  }

  /// Looks everywhere the flow may be, and starts it where it is not found.
  [[gnu::noinline]] SlotRef update_elsewhere(const PacketFacts& facts, std::uint32_t home_line) noexcept {
    const auto probe = Line::probe(facts);
    const std::uint32_t reach = displaced_[home_line] == 0 ? 1 : kReach;
    for (std::uint32_t k = 0; k < reach; ++k) {
      const std::uint32_t at = home_line ^ k;
      for (std::uint64_t matches = lines_[at].match(probe); matches != 0; matches &= matches - 1) {
        const std::uint32_t slot = at * Line::kSlots + static_cast<std::uint32_t>(std::countr_zero(matches));
        if (same_addresses(slot, facts)) return count(slot, facts);
      }
    }
    if (size_ >= capacity_) evict_near(home_line);
    const auto [displacement, i] = find_room(home_line);
    return insert(home_line, displacement, i, facts);
  }

  struct Room {
    std::uint32_t displacement;
    unsigned i;
  };

  /// The nearest free slot in reach of a home line; made, where there is none.
  Room find_room(std::uint32_t home_line) noexcept {
    for (;;) {
      for (std::uint32_t k = 0; k < kReach; ++k)
        for (unsigned i = 0; i < Line::kSlots; ++i)
          if (!lines_[home_line ^ k].occupied(i)) return {k, i};
      evict_near(home_line);
    }
  }

  void occupy(std::uint32_t slot, std::uint32_t home_line, std::uint32_t displacement) noexcept {
    if (marks_[slot] != displacement) marks_[slot] = static_cast<std::uint8_t>(displacement);
    if (displacement != 0) ++displaced_[home_line];
    ++size_;
  }

  SlotRef insert(std::uint32_t home_line, std::uint32_t displacement, unsigned i, const PacketFacts& facts) noexcept {
    const std::uint32_t at = home_line ^ displacement;
    const std::uint32_t slot = at * Line::kSlots + i;
    lines_[at].put(i, facts);
    if constexpr (!Line::kExact) std::memcpy(&heads_[slot], &facts.key, FlowKey::kHeadBytes);
    if (facts.key.ip_version != 4) ipv6_addresses_[slot] = facts.key.address;
    occupy(slot, home_line, displacement);
    start(slot, facts);
    return {slot, true};
  }

  /// Sets the counters of an occupied slot to this one packet.
  void start(std::uint32_t slot, const PacketFacts& facts) noexcept {
    Line& line = line_of(slot);
    const unsigned i = slot % Line::kSlots;
    first_ns_[slot] = facts.time_ns;
    if ((marks_[slot] & kSpilled) != 0) marks_[slot] &= static_cast<std::uint8_t>(~kSpilled);
    line.last_ns[i] = facts.time_ns;
    line.counts[i] = CountWord();
    if (facts.counts.wide()) [[unlikely]]
      spill(slot, facts.counts);
    else
      line.counts[i] = facts.counts;
  }

  /// Ends the least recently seen flow of the nearest pair of lines that has any.
  void evict_near(std::uint32_t home_line) noexcept {
    constexpr std::uint32_t kPairSlots = 2 * Line::kSlots;
    for (std::uint32_t k = 0; k < kReach; k += 2) {
      const std::uint32_t first = ((home_line ^ k) & ~1u) * Line::kSlots;
      std::uint32_t oldest = first;
      std::uint64_t oldest_ns = ~std::uint64_t{0};
      for (std::uint32_t slot = first; slot < first + kPairSlots; ++slot) {
        const std::uint64_t last_ns = line_of(slot).last_ns[slot % Line::kSlots];
        if (occupied(slot) && last_ns <= oldest_ns) oldest = slot, oldest_ns = last_ns;
      }
      if (occupied(oldest)) return end(oldest, EndReason::lack_of_resources);
    }
    // A table this empty is rare: the next flow in the table's order makes room.
    for (std::uint32_t n = 0, slot = home_line * Line::kSlots; n < slots();
         ++n, slot = slot + 1 == slots() ? 0 : slot + 1)
      if (occupied(slot)) return end(slot, EndReason::lack_of_resources);
  }

  void end(std::uint32_t slot, EndReason reason) noexcept {
    FlowRecord ended = record(slot);
    ended.end_reason = reason;
    sink_->flow_ended(ended, slot, done_);
    if (const std::uint32_t displacement = marks_[slot] & kDisplacement; displacement != 0) {
      const std::uint32_t home_line = slot / Line::kSlots ^ displacement;
      --displaced_[home_line];
    }
    line_of(slot).clear(slot % Line::kSlots);
    --size_;
  }

  std::size_t capacity_;
  std::uint32_t line_count_;
  std::uint32_t hand_ = 0;
  std::uint64_t idle_ns_;
  std::uint64_t active_ns_;
  std::size_t size_ = 0;
  std::size_t done_ = 0;  ///< packets of the current update() whose slots are written
  FlowSink* sink_;
  HugeBuffer<Line> lines_;
  HugeBuffer<std::uint64_t> first_ns_;
  HugeBuffer<std::uint8_t> marks_;  ///< kSpilled, and displacement: the slot's line is home ^ displacement
  HugeBuffer<SpilledCounts> spilled_;
  HugeBuffer<KeyHead> heads_;
  HugeBuffer<Ipv6Addresses> ipv6_addresses_;
  HugeBuffer<std::uint16_t> displaced_;  ///< per line: flows whose home it is and that live elsewhere
};

using ExactTable = BucketedTable<ExactLine>;
using FingerprintTable = BucketedTable<FingerprintLine>;
static_assert(FlowTable<ExactTable> && FlowTable<FingerprintTable>);

}  // namespace parshall
