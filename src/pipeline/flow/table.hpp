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
#include "pipeline/flow/timeouts.hpp"

namespace parshall {

/// Reference to the slot, below the table's slots(), of a packet's flow; or to none if the packet was kept out.
class SlotRef {
 public:
  SlotRef() = default;
  SlotRef(std::uint32_t slot, bool is_new) noexcept : bits_(slot | kFirst | (is_new ? kNew : 0)) {}
  std::uint32_t slot() const noexcept { return static_cast<std::uint32_t>(bits_); }
  bool is_new() const noexcept { return (bits_ & kNew) != 0; }

  /// Refers to a flow that continues in a new record.
  static SlotRef split(std::uint32_t slot) noexcept { return SlotRef(slot | kFirst | kNew | kSplit); }
  bool is_split() const noexcept { return (bits_ & kSplit) != 0; }

  /// Refers to a flow that is new here, but packets of which may have been kept out before.
  static SlotRef late(std::uint32_t slot) noexcept { return SlotRef(slot | kFirst | kNew | kLate); }
  bool is_late() const noexcept { return (bits_ & kLate) != 0; }

  /// Refers to a known flow. `is_first` says whether the packet is among the first ones.
  static SlotRef known(std::uint32_t slot, bool is_first) noexcept { return SlotRef(slot | (is_first ? kFirst : 0)); }
  /// Returns whether the packet may be among its flow's first ones, as many as set by first_packets().
  bool may_be_first() const noexcept { return (bits_ & kFirst) != 0; }

  static SlotRef kept_out() noexcept { return SlotRef(~std::uint64_t{0}); }
  bool is_kept_out() const noexcept { return bits_ == ~std::uint64_t{0}; }

 private:
  static constexpr std::uint64_t kNew = std::uint64_t{1} << 32, kSplit = kNew << 1, kFirst = kNew << 2,
                                 kLate = kNew << 3;

  explicit SlotRef(std::uint64_t bits) noexcept : bits_(bits) {}

  std::uint64_t bits_ = 0;
};

/// Receives every record that leaves a table, before its slot is used again.
class FlowSink {
 public:
  virtual ~FlowSink() = default;

  /// Takes an ended record, which it may change. `counted` packets of the current update() were counted before this
  /// one; their slots are written.
  virtual void flow_ended(FlowRecord& record, std::uint32_t slot, std::size_t counted) noexcept = 0;

  /// Returns whether the flow's TCP connection is over, by its packets' flags. The flow then ends after
  /// Timeouts::linger_ns.
  virtual bool is_closed([[maybe_unused]] std::uint32_t slot, std::uint16_t tcp_flags,
                         [[maybe_unused]] std::size_t counted) noexcept {
    constexpr std::uint16_t kFin = 1, kRst = 4;
    return (tcp_flags & (kFin | kRst)) != 0;
  }

  /// Announces a flow that is about to end, so that memory can be prefetched.
  virtual void flow_ends_soon([[maybe_unused]] std::uint32_t slot) noexcept {}

  /// Announces that a flow went to another slot, before either slot is used again. Tables whose flows otherwise stay in
  /// their slots call it only while they grow.
  virtual void flow_moved([[maybe_unused]] std::uint32_t from, [[maybe_unused]] std::uint32_t to,
                          [[maybe_unused]] std::size_t counted) noexcept {}
};

/// Options of a table's memory, all of which is mapped at once.
struct TableMemory {
  bool populate =
      false;  ///< commit it in advance, as CommitLater says; otherwise the first packet to touch a page pays for it

  /// If set, the table starts small and grows with its flows. This saves memory for small inputs, but slots do not stay
  /// valid. Hashes the keys of flows that move, and must live as long as the table.
  const FlowIdentity* grow_by = nullptr;
};

/// Number of hash bits, from the top, that a table's bucket may depend on. Partitions before a table use lower bits.
inline constexpr unsigned kBucketBits = 29;

/// Default for work between packets in update(): none.
struct Nothing {
  void operator()(std::size_t) const noexcept {}
};

/// Maps keys to flows and counts packets. Single-threaded: one table per worker.
///
/// - prefetcher()(hash) prefetches the memory that update() will touch.
/// - update(facts) finds or starts each packet's flow and adds the packet. Before the i-th it calls meanwhile(i):
///   prefetches for later packets cost least if they are spread among the updates.
/// - settle() ends any growth. From then on a slot belongs to its flow while that lives. If kMoves, a flow may still
///   move, and the sink is notified.
/// - sweep(now, n) ends flows that are idle, or closed and quiet for long enough, among the next n buckets of an
///   endless round, or found in an earlier sweep.
/// - first_packets(n) makes SlotRef::may_be_first() true for the first n packets of each flow, and for few others. With
///   0 it is unspecified.
/// - Every packet counts in exactly one flow, since a full table evicts another flow to make room. Packets kept out by
///   a filter (see filter_by()) count in none.
/// - begun() returns how many flows were put into the table.
/// - ends_quiet() returns whether a timeout ends flows without packets.
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
  { view.ends_quiet() }
  noexcept->std::same_as<bool>;
  { view.size() }
  noexcept->std::same_as<std::size_t>;
  { view.buckets() }
  noexcept->std::same_as<std::size_t>;
  { table.sweep(hash, slot) }
  noexcept->std::same_as<void>;
};

}  // namespace parshall
