// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "pipeline/flow/flood_filter.hpp"
#include "pipeline/flow/identity.hpp"
#include "pipeline/flow/record.hpp"

namespace parshall {

/// Where a packet's flow lives: a slot below the table's slots(), or none where the packet was kept out.
class SlotRef {
 public:
  SlotRef() = default;
  SlotRef(std::uint32_t slot, bool is_new) noexcept : bits_(slot | kFirst | (is_new ? kNew : 0)) {}
  std::uint32_t slot() const noexcept { return static_cast<std::uint32_t>(bits_); }
  bool is_new() const noexcept { return (bits_ & kNew) != 0; }

  /// Of a flow that goes on in a new record.
  static SlotRef split(std::uint32_t slot) noexcept { return SlotRef(slot | kFirst | kNew | kSplit); }
  bool is_split() const noexcept { return (bits_ & kSplit) != 0; }

  /// Of a flow that is new here, but of which packets may have been kept out before.
  static SlotRef late(std::uint32_t slot) noexcept { return SlotRef(slot | kFirst | kNew | kLate); }
  bool is_late() const noexcept { return (bits_ & kLate) != 0; }

  /// Of a packet of a flow that is known, by whether it is among the first ones.
  static SlotRef known(std::uint32_t slot, bool is_first) noexcept { return SlotRef(slot | (is_first ? kFirst : 0)); }
  /// Whether the packet may be among its flow's first ones, as many as the table was asked for.
  bool may_be_first() const noexcept { return (bits_ & kFirst) != 0; }

  static SlotRef kept_out() noexcept { return SlotRef(~std::uint64_t{0}); }
  bool is_kept_out() const noexcept { return bits_ == ~std::uint64_t{0}; }

 private:
  static constexpr std::uint64_t kNew = std::uint64_t{1} << 32, kSplit = kNew << 1, kFirst = kNew << 2,
                                 kLate = kNew << 3;

  explicit SlotRef(std::uint64_t bits) noexcept : bits_(bits) {}

  std::uint64_t bits_ = 0;
};

/// Hears of every record that leaves a table, before its slot is used again.
class FlowSink {
 public:
  virtual ~FlowSink() = default;

  /// `record` is the sink's to change. `counted`: how many packets of the current update() were counted before this
  /// one; their slots are written.
  virtual void flow_ended(FlowRecord& record, std::uint32_t slot, std::size_t counted) noexcept = 0;

  /// Returns true where the flow's TCP connection is over, by the flags of its packets. It then ends after
  /// Timeouts::linger_ns.
  virtual bool is_closed([[maybe_unused]] std::uint32_t slot, std::uint16_t tcp_flags,
                         [[maybe_unused]] std::size_t counted) noexcept {
    constexpr std::uint16_t kFin = 1, kRst = 4;
    return (tcp_flags & (kFin | kRst)) != 0;
  }

  /// One of some that are about to end: what that will touch may be asked for.
  virtual void flow_ends_soon([[maybe_unused]] std::uint32_t slot) noexcept {}

  /// Likewise of a flow that went to another slot, before either is used again. From a table whose flows stay
  /// only while it grows.
  virtual void flow_moved([[maybe_unused]] std::uint32_t from, [[maybe_unused]] std::uint32_t to,
                          [[maybe_unused]] std::size_t counted) noexcept {}
};

/// Timeouts in packet time; 0 turns one off.
struct Timeouts {
  std::uint64_t idle_ns = 0;
  std::uint64_t active_ns = 0;
  std::uint64_t linger_ns = 0;  ///< of a flow that is closed (FlowSink), in place of the idle one; shorter than that

  /// Without a packet, some flow may end after this long.
  std::uint64_t shortest_quiet_ns() const noexcept {
    return idle_ns == 0 || linger_ns == 0 ? std::max(idle_ns, linger_ns) : std::min(idle_ns, linger_ns);
  }
};

/// How a table takes its memory: all of it mapped at once, whatever it was asked for.
struct TableMemory {
  bool populate =
      false;  ///< commit it in advance, as CommitLater says; else each page costs the first packet that meets it

  /// Use little of it at first, and more as flows come: saves the pages of a small input, costs slots that stay valid.
  /// Hashes the keys of flows that move; as long as the table lives.
  const FlowIdentity* grow_by = nullptr;
};

/// A table's bucket may depend on this many bits of the hash, from the top; what divides flows before a table depends
/// on lower ones.
inline constexpr unsigned kBucketBits = 29;

/// What update() does between packets where its caller has nothing to do.
struct Nothing {
  void operator()(std::size_t) const noexcept {}
};

/// Maps keys to flows and counts. Single-threaded: one table per worker.
///
/// prefetcher()(hash) asks for the memory update() will touch; update(facts) finds or starts the flow and adds
/// the packet, after a call of meanwhile(i) for the i-th: requests for later packets' memory cost least when they are
/// spread among the updates. settle() ends any growth, after which a slot is its flow's for as long as that lives, or
/// until the sink hears that it moved: only where kMoves.
/// sweep(now, n) ends flows that are idle, or closed and quiet for long enough, among the next n buckets of an endless
/// round, or those that it found before.
/// first_packets(n): SlotRef::may_be_first() is then true of the first n packets of each flow, and of few others; of 0
/// packets nothing is said.
/// Every packet lands in exactly one flow: a full table ends another flow's record to make room. Those that a filter,
/// where filter_by() gave one, keeps out land in none; begun() says how many flows were put into the table.
template <class T>
concept FlowTable = requires(T table, const T& view, std::span<const PacketFacts> packets, std::span<SlotRef> slots,
                             std::uint64_t hash, std::uint32_t slot, FloodFilter* filter) {
  { T::kMoves } -> std::convertible_to<bool>;
  { view.prefetcher()(hash) }
  noexcept->std::same_as<void>;
  { table.update(packets, slots, Nothing{}) }
  noexcept->std::same_as<void>;
  { table.filter_by(filter) }
  noexcept->std::same_as<void>;
  { table.first_packets(slot) }
  noexcept->std::same_as<void>;
  { view.begun() }
  noexcept->std::same_as<std::uint64_t>;
  { table.settle() }
  noexcept->std::same_as<void>;
  { view.occupied(slot) }
  noexcept->std::same_as<bool>;
  { view.record(slot) }
  noexcept->std::same_as<FlowRecord>;
  { view.slots() }
  noexcept->std::same_as<std::uint32_t>;
  { view.size() }
  noexcept->std::same_as<std::size_t>;
  { view.buckets() }
  noexcept->std::same_as<std::size_t>;
  { table.sweep(hash, slot) }
  noexcept->std::same_as<void>;
};

}  // namespace parshall
