// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/flow_stage.hpp"
#include "engine/flow_tally.hpp"

namespace parshall {

/// The running copy of a worker's flows: whether one is wanted, which slots it has, what came to these since. It knows
/// no table: whoever does hands it the flows.
///
/// Cost: has() while a copy runs, once a packet. Memory: that of a Snapshot, and a bit for each slot where flows move.
class Snapshotter {
 public:
  Snapshotter(bool flows_move, const StatisticSet* statistics, std::vector<StatePackets> states);

  /// Takes the memory of a copy of so many slots in advance. Throws std::bad_alloc.
  void reserve(std::uint32_t slots, const StatisticSet* statistics);

  /// The reporting thread's: another copy is wanted; null until it is there.
  void request(std::uint64_t number) noexcept {
    snapshot_.number = number;
    state_.store(State::wanted, std::memory_order_release);
  }
  Snapshot* ready() noexcept { return state_.load(std::memory_order_acquire) == State::ready ? &snapshot_ : nullptr; }

  /// All that follows is the worker's.
  bool is_wanted() const noexcept { return state_.load(std::memory_order_acquire) == State::wanted; }
  bool is_copying() const noexcept { return state_.load(std::memory_order_relaxed) == State::copying; }

  /// Where a copy is wanted: begins it, of so many slots, with rows of these statistics. False, and nothing is begun,
  /// where there is no memory for the rows: without statistics it always begins.
  bool begin(std::uint32_t slots, const StatisticChoice& statistics) noexcept;

  /// While it is copying: calls copy(slot) for each of the next slots that is to be copied, where there is a flow.
  template <class Copy>
  void advance(Copy copy) noexcept {
    for (const std::uint32_t end = slice_end(); copied_ < end; ++copied_)
      if (takes(copied_)) copy(copied_);
  }
  void copy(const MeasuredFlow& flow) noexcept;
  bool has_all() const noexcept { return copied_ == slots_; }

  /// Then: with what was counted of the ended records and of packets without a flow up to now, which are in no slot
  /// that may have been copied before they came.
  void finish(const MonitorCounts& ended, const MonitorCounts& flowless) noexcept;
  std::span<StatePackets> states() noexcept { return snapshot_.states; }  ///< to be set before

  /// Whether a copy is running that has any slot.
  bool has_any() const noexcept { return copied_ != 0; }

  /// Whether what comes to the slot now is later than the running copy. `flows_move` as it was made with.
  template <bool flows_move>
  [[gnu::always_inline]] bool has(std::uint32_t slot) const noexcept {
    if constexpr (flows_move)
      return copied_ != 0 && marked(slot);
    else
      return slot < copied_;
  }

  /// A packet that came to a slot that the copy has.
  void add_later_packet() noexcept { later_.add(Counter::arrived, 1); }

  /// A record left its slot, which the copy has or not. The first snapshot that may report the record.
  std::uint64_t flow_ended(const MeasuredFlow& flow, bool has_slot) noexcept {
    if (has_slot) later_.count_ended(flow);
    return next_number_ + (has_slot ? 1 : 0);
  }

  /// A flow went to another slot, and whether the copy has it goes with it. True where it is to be copied now: it went
  /// from a slot still to be copied to one that has been.
  bool flow_moved(std::uint32_t from, std::uint32_t to) noexcept;

 private:
  enum class State : std::uint8_t { idle, wanted, copying, ready };

  void map(std::uint32_t slots, std::size_t stride);
  std::uint32_t slice_end() const noexcept;

  /// Whether the slot is to be copied yet: not where its flow was copied elsewhere, or came after.
  bool takes(std::uint32_t slot) noexcept {
    if (!flows_move_) return true;
    if (marked(slot)) return false;
    mark(slot);
    return true;
  }
  bool marked(std::uint32_t slot) const noexcept { return marks_[slot] == mark_; }
  void mark(std::uint32_t slot) noexcept { marks_[slot] = mark_; }

  std::uint32_t slots_ = 0;
  std::uint32_t copied_ = 0;  ///< slots below this one are in the running copy
  bool flows_move_;
  bool mark_ = true;         ///< what stands in marks_ for a slot in the copy, by turns
  std::vector<bool> marks_;  ///< by slot, where flows move: those in the copy, or whose flows were elsewhere
  std::atomic<State> state_{State::idle};
  std::uint64_t next_number_ = 1;  ///< of the snapshot that a record ending now belongs to
  FlowTally copies_, later_;       ///< what is in the running copy, and what came to slots that it had already
  Snapshot snapshot_;
};

}  // namespace parshall
