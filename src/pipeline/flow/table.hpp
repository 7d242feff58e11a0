// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "pipeline/flow/record.hpp"

namespace parshall {

/// Where a packet's flow lives: a slot below the table's slots(), unchanged while the flow lives.
class SlotRef {
 public:
  static constexpr std::uint32_t kNewBit = 1u << 31;

  SlotRef() = default;
  SlotRef(std::uint32_t slot, bool is_new) noexcept : bits_(slot | (is_new ? kNewBit : 0)) {}
  std::uint32_t slot() const noexcept { return bits_ & ~kNewBit; }
  bool is_new() const noexcept { return (bits_ & kNewBit) != 0; }

 private:
  std::uint32_t bits_ = 0;
};

/// Hears of every record that leaves a table, before its slot is used again.
class FlowSink {
 public:
  virtual ~FlowSink() = default;

  /// `counted`: how many packets of the current update() were counted before this one; their slots are written.
  virtual void flow_ended(const FlowRecord& record, std::uint32_t slot, std::size_t counted) noexcept = 0;
};

/// Timeouts in packet time; 0 turns one off.
struct Timeouts {
  std::uint64_t idle_ns = 0;
  std::uint64_t active_ns = 0;
};

/// Maps keys to flows and counts. Single-threaded: one table per worker.
///
/// prefetch(hash) asks for the memory update() will touch; update(facts) finds or starts the flow and adds
/// the packet. Every packet lands in exactly one flow: a full table ends another flow's record to make room.
template <class T>
concept FlowTable = requires(T table, const T& view, std::span<const PacketFacts> packets, std::span<SlotRef> slots,
                             std::uint64_t hash, std::uint32_t slot) {
  { view.prefetcher()(hash) }
  noexcept->std::same_as<void>;
  { table.update(packets, slots) }
  noexcept->std::same_as<void>;
  { view.occupied(slot) }
  noexcept->std::same_as<bool>;
  { view.record(slot) }
  noexcept->std::same_as<FlowRecord>;
  { view.slots() }
  noexcept->std::same_as<std::uint32_t>;
  { view.size() }
  noexcept->std::same_as<std::size_t>;
  { table.sweep(hash, slot) }
  noexcept->std::same_as<void>;
};

}  // namespace parshall
