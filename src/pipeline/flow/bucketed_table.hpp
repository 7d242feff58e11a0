// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/prefetch.hpp"
#include "pipeline/flow/bucket_store.hpp"
#include "pipeline/flow/flow_counter.hpp"

namespace parshall {

/// The default flow table: buckets of one cache line with counters in the line, and separate arrays with everything
/// rare.
///
/// If a flow's home line is full, the flow goes to line home ^ k for the smallest k in reach that has room. A lookup
/// checks the home line, then its neighbour home ^ 1. The home's record of how far its flows are says which other lines
/// to check.
///
/// Grows: if asked to, from a small start, by doubling in place when half of the slots in use are taken, or when all
///        lines in reach of a new flow are full.
/// Full:  at `flows` flows, or when all lines in reach are full, one flow is evicted. The candidates are the flows
///        nearest to the home line, kChoice or more if there are as many. The least recently seen of them goes to the
///        sink with EndReason::lack_of_resources, unless a timeout has ended it.
template <class Line>
class BucketedTable : private FlowCounter<BucketStore<Line>> {
  using Store = BucketStore<Line>;
  using Counter = FlowCounter<Store>;
  using Counter::count, Counter::count_rare, Counter::start, Counter::hand_over, Counter::quiet_end, Counter::may_begin,
      Counter::begins_many;
  using Counter::done_, Counter::store_;

 public:
  using Counter::filter_by, Counter::begun, Counter::first_packets, Counter::ends_quiet;

  static constexpr bool kMoves = false;
  static constexpr std::uint32_t kReach = Store::kReach;
  static constexpr std::size_t kMaxFlows = Store::kMaxFlows;
  static constexpr std::size_t lines_for(std::size_t flows) noexcept { return Store::lines_for(flows); }
  static std::size_t slots_for(std::size_t flows) noexcept { return Store::slots_for(flows); }
  static std::size_t memory_bytes(std::size_t flows) noexcept { return Store::memory_bytes(flows); }

  BucketedTable(std::size_t flows, Timeouts timeouts, FlowSink& sink, const TableMemory& memory = {})
      : Counter(timeouts, sink, Store(flows, memory)),
        capacity_(flows),
        grow_by_(store_.full_size() ? nullptr : memory.grow_by) {}

  /// Prefetches the memory that packets with a hash will touch. Copied by value, so that it stays in registers.
  class Prefetcher {
   public:
    explicit Prefetcher(const BucketedTable& table) noexcept
        : lines_(table.store_.lines()),
          home_shift_(table.store_.home_shift()),
          store_(table.begins_many() ? &table.store_ : nullptr) {}
    [[gnu::always_inline]] void operator()(std::uint64_t hash) const noexcept {
      prefetch_line(home(hash));
      if (store_ != nullptr) [[unlikely]]
        store_->prefetch_beside(static_cast<std::uint32_t>(hash >> home_shift_));
    }

    /// Returns the line where lookups of that hash begin.
    [[gnu::always_inline]] const Line* home(std::uint64_t hash) const noexcept { return &lines_[hash >> home_shift_]; }

   private:
    const Line* lines_;
    unsigned home_shift_;
    const Store* store_;  ///< set while many flows begin; otherwise null
  };
  Prefetcher prefetcher() const noexcept { return Prefetcher(*this); }

  template <class Meanwhile = Nothing>
  [[gnu::always_inline]] void update(std::span<const PacketFacts> packets, std::span<SlotRef> slots,
                                     Meanwhile meanwhile = {}) noexcept {
    Line* const lines = store_.lines();
    unsigned home_shift = store_.home_shift();
    const std::uint64_t rare_from_ns = this->rare_from_ns(), first_below = this->first_below();
    SlotRef* out = slots.data();
    this->age();
    for (std::size_t n = 0; n < packets.size(); ++n) {
      meanwhile(n);
      const PacketFacts& facts = packets[n];
      std::uint64_t at = facts.hash >> home_shift;
      const auto probe = Line::probe_ipv4(facts);
      std::uint64_t matches = lines[at].match(probe);
      if (matches == 0) [[unlikely]] {
        at ^= 1;
        matches = lines[at].match(probe);
        if (matches == 0) {
          done_ = static_cast<std::size_t>(out - slots.data());
          *out++ = update_elsewhere(facts);
          home_shift = store_.home_shift();
          continue;
        }
      }
      Line& line = lines[at];
      const auto i = static_cast<std::uint64_t>(std::countr_zero(matches));
      const std::uint64_t time_ns = facts.time_ns;
      const CountWord sum = line.counts[i].plus(facts.counts);
      const auto slot = static_cast<std::uint32_t>(at * Line::kSlots + i);
      // The difference is huge if the packet is late.
      if (time_ns - line.last_ns[i] >= rare_from_ns || sum.overflowed()) [[unlikely]] {
        done_ = static_cast<std::size_t>(out - slots.data());
        *out++ = count_rare(slot, facts);
        continue;
      }
      line.counts[i] = sum;
      line.last_ns[i] = time_ns;
      *out++ = SlotRef::known(slot, sum.bits() < first_below);
    }
  }

  /// Grows to the full size now. From then on slots stay valid while their flows live.
  void settle() noexcept {
    while (grow_by_ != nullptr) grow();
  }

  bool occupied(std::uint32_t slot) const noexcept { return store_.occupied(slot); }
  FlowKey key(std::uint32_t slot) const noexcept { return store_.key(slot); }
  FlowRecord record(std::uint32_t slot) const noexcept { return store_.record(slot); }
  std::uint32_t slots() const noexcept { return store_.slots(); }
  std::size_t size() const noexcept { return size_; }
  std::size_t buckets() const noexcept { return store_.line_count(); }  ///< buckets in use

  /// Ends the quiet flows among the next `lines` lines of an endless round through the table. The last few of them end
  /// in the next sweep, if they are still quiet: by then the memory that this touches has been fetched.
  void sweep(std::uint64_t now_ns, std::uint32_t lines) noexcept {
    constexpr std::uint32_t kAhead = 48;  // lines
    if (!ends_quiet()) return;
    done_ = 0;
    for (; ended_quiet_ != found_quiet_; ++ended_quiet_) end_quiet(quiet_[ended_quiet_ % kEndLater], now_ns);
    const Line* const all = store_.lines();
    const std::uint32_t line_count = store_.line_count();
    std::uint32_t at = std::exchange(hand_, (hand_ + lines) % line_count);
    for (; lines != 0; --lines, at = at + 1 == line_count ? 0 : at + 1) {
      prefetch_line(&all[std::min(at + kAhead, line_count - 1)]);
      for (std::uint64_t quiet = all[at].quiet(now_ns, this->quiet_ns()); quiet != 0; quiet &= quiet - 1) {
        const std::uint32_t slot = at * Line::kSlots + static_cast<std::uint32_t>(std::countr_zero(quiet));
        if (quiet_end(slot, now_ns) == EndReason::none) continue;
        store_.prefetch_beside(at);
        this->sink_->flow_ends_soon(slot);
        if (found_quiet_ - ended_quiet_ == kEndLater) end_quiet(quiet_[ended_quiet_++ % kEndLater], now_ns);
        quiet_[found_quiet_++ % kEndLater] = slot;
      }
    }
  }

 private:
  /// Searches all places where the flow may be. Starts the flow if it is not found, unless it is kept out.
  [[gnu::noinline]] SlotRef update_elsewhere(const PacketFacts& facts) noexcept {
    const auto probe = Line::probe(facts);
    const std::uint32_t home_line = store_.home(facts.hash);
    const std::uint32_t reach = store_.reach(home_line);
    for (std::uint32_t k = 0; k < reach; ++k) {
      const std::uint32_t at = home_line ^ k;
      for (std::uint64_t matches = store_.lines()[at].match(probe); matches != 0; matches &= matches - 1) {
        const std::uint32_t slot = at * Line::kSlots + static_cast<std::uint32_t>(std::countr_zero(matches));
        if (store_.same_addresses(slot, facts.key)) return count(slot, facts);
      }
    }
    if (!may_begin(facts)) return SlotRef::kept_out();
    if (grow_by_ != nullptr && size_ >= slots() / 2 && size_ < capacity_) grow();
    if (size_ >= capacity_) evict_near(store_.home(facts.hash), facts.time_ns);
    const std::uint32_t slot = put(facts);
    start(slot, facts);
    return this->begun_in(slot);
  }

  /// Puts the flow into a free slot, making room if there is none.
  std::uint32_t put(const PacketFacts& facts) noexcept {
    for (;;) {
      const std::uint32_t home_line = store_.home(facts.hash);
      const auto room = store_.find_room(home_line);
      if (room.displacement != kReach) {
        ++size_;
        return store_.put(home_line, room, facts);
      }
      if (grow_by_ != nullptr)
        grow();
      else
        evict_near(home_line, facts.time_ns);
    }
  }

  /// Doubles the lines in use. Each block of kReach lines splits into two blocks at twice its place. Going down from
  /// the last slot, those two are free, and the first block has room for its own flows.
  [[gnu::noinline]] void grow() noexcept {
    constexpr std::uint32_t kAhead = 24;  // slots
    const std::uint32_t old_slots = slots();
    store_.double_lines();
    for (std::uint32_t slot = old_slots; slot-- > 0;) {
      const std::uint32_t soon = (slot >= kAhead ? slot - kAhead : 0) / Line::kSlots;
      for (const std::uint32_t line : {soon, 2 * soon, 2 * soon + 1}) prefetch_line(&store_.lines()[line]);
      if (occupied(slot)) move(slot);
    }
    if (store_.full_size()) grow_by_ = nullptr;
  }

  void move(std::uint32_t from) noexcept {
    PacketFacts facts;
    facts.key = key(from);
    facts.hash = grow_by_->hash(facts.key);
    const CountWord counts = store_.counts(from);
    const std::uint64_t first_ns = store_.first_ns(from), last_ns = store_.last_ns(from);
    const SpilledCounts spilled = store_.spilled(from);
    store_.clear(from);
    --size_;
    const std::uint32_t to = put(facts);
    store_.counts(to) = counts;
    store_.first_ns(to) = first_ns;
    store_.last_ns(to) = last_ns;
    if (spilled.packets != 0) store_.set_spilled(to, spilled);
    if (from != to) this->sink_->flow_moved(from, to, done_);
  }

  /// Ends the least recently seen flow of the nearest pairs of lines, and evicts it unless it is over. One pair may not
  /// be enough: its only flow may be busy while others in reach are idle.
  void evict_near(std::uint32_t home_line, std::uint64_t now_ns) noexcept {
    constexpr std::uint32_t kPairSlots = 2 * Line::kSlots;
    std::uint32_t oldest = 0, choice = 0;
    std::uint64_t oldest_ns = ~std::uint64_t{0};
    for (std::uint32_t k = 0; k < kReach && choice < kChoice; k += 2) {
      const std::uint32_t first = ((home_line ^ k) & ~1u) * Line::kSlots;
      for (std::uint32_t slot = first; slot < first + kPairSlots; ++slot) {
        if (!occupied(slot)) continue;
        ++choice;
        if (const std::uint64_t last_ns = store_.last_ns(slot); last_ns <= oldest_ns)
          oldest = slot, oldest_ns = last_ns;
      }
    }
    if (choice != 0) {
      const EndReason quiet = quiet_end(oldest, now_ns);
      return end(oldest, quiet == EndReason::none ? EndReason::lack_of_resources : quiet);
    }
    // A table this empty is rare. The next flow in table order is evicted.
    for (std::uint32_t n = 0, slot = home_line * Line::kSlots; n < slots();
         ++n, slot = slot + 1 == slots() ? 0 : slot + 1)
      if (occupied(slot)) return end(slot, EndReason::lack_of_resources);
  }

  void end_quiet(std::uint32_t slot, std::uint64_t now_ns) noexcept {
    if (!occupied(slot)) return;
    if (const EndReason reason = quiet_end(slot, now_ns); reason != EndReason::none) end(slot, reason);
  }

  void end(std::uint32_t slot, EndReason reason) noexcept {
    hand_over(slot, reason);
    store_.clear(slot);
    --size_;
  }

  static constexpr std::uint32_t kChoice = 8;   ///< candidates for eviction
  static constexpr std::size_t kEndLater = 16;  ///< quiet flows whose end is deferred

  std::size_t capacity_;
  std::uint32_t hand_ = 0;
  std::array<std::uint32_t, kEndLater> quiet_;  ///< ring of slots whose flows were quiet
  std::size_t found_quiet_ = 0, ended_quiet_ = 0;
  std::size_t size_ = 0;
  const FlowIdentity* grow_by_;  ///< hashes flows that move; null at full size, and for a table that does not grow
};

using ExactTable = BucketedTable<ExactLine>;
using FingerprintTable = BucketedTable<FingerprintLine>;
static_assert(FlowTable<ExactTable> && FlowTable<FingerprintTable>);
static_assert(ExactTable::lines_for(ExactTable::kMaxFlows) <= std::size_t{1} << kBucketBits &&
              FingerprintTable::lines_for(FingerprintTable::kMaxFlows) <= std::size_t{1} << kBucketBits);

}  // namespace parshall
