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

/// Controls the running copy of a worker's flows: if one is wanted, which slots it has, and what came to these since.
/// It is independent of the table, whose owner passes the flows in.
///
/// Cost:   has() once a packet while a copy runs. Memory: that of a Snapshot, and a bit for each slot if flows move.
class Snapshotter {
 public:
  Snapshotter(bool flows_move, const StatisticSet* statistics, std::vector<StatePackets> states);

  /// Allocates the memory of a copy of this many slots in advance. Throws std::bad_alloc.
  void reserve(std::uint32_t slots, const StatisticSet* statistics);

  /// Requests another copy, for the reporting thread; ready() returns null until it is complete.
  void request(std::uint64_t number) noexcept {
    snapshot_.number = number;
    state_.store(State::wanted, std::memory_order_release);
  }
  Snapshot* ready() noexcept { return state_.load(std::memory_order_acquire) == State::ready ? &snapshot_ : nullptr; }

  /// All functions below are for the worker.
  bool is_wanted() const noexcept { return state_.load(std::memory_order_acquire) == State::wanted; }
  bool is_copying() const noexcept { return state_.load(std::memory_order_relaxed) == State::copying; }

  /// Begins the copy that is wanted, with this many slots and rows of these statistics. Returns false without beginning
  /// if there is no memory for the rows; without statistics it always begins.
  bool begin(std::uint32_t slots, const StatisticChoice& statistics) noexcept;

  /// Continues the copy: calls copy(slot) for each of the next slots to be copied; a slot may be empty.
  template <class Copy>
  void advance(Copy copy) noexcept {
    for (const std::uint32_t end = slice_end(); copied_ < end; ++copied_)
      if (takes(copied_)) copy(copied_);
  }
  void copy(const TalliedFlow& flow) noexcept;
  bool has_all() const noexcept { return copied_ == slots_; }

  /// Finishes the copy. The arguments are the counts so far of ended records and of packets without a flow. None of
  /// these is in a slot that was copied before it came.
  void finish(const StageCounts& ended, const StageCounts& flowless) noexcept;
  std::span<StatePackets> states() noexcept { return snapshot_.states; }  ///< to be set before

  /// Returns true if a running copy has any slot.
  bool has_any() const noexcept { return copied_ != 0; }

  /// Returns true if what comes to the slot now is later than the running copy. `flows_move` as at construction.
  template <bool flows_move>
  [[gnu::always_inline]] bool has(std::uint32_t slot) const noexcept {
    if constexpr (flows_move)
      return copied_ != 0 && marked(slot);
    else
      return slot < copied_;
  }

  /// Counts a packet that came to a slot already in the copy.
  void add_later_packet() noexcept { later_.add(Counter::arrived, 1); }

  /// Counts a record that left its slot; `has_slot`: the copy has it. Returns the first snapshot that may report the
  /// record.
  std::uint64_t flow_ended(const TalliedFlow& flow, bool has_slot) noexcept {
    if (has_slot) later_.count_ended(flow);
    return next_number_ + (has_slot ? 1 : 0);
  }

  /// Carries the mark along when a flow moves to another slot. Returns true if the flow must be copied now: it moved
  /// from a slot still to be copied to one that has been.
  bool flow_moved(std::uint32_t from, std::uint32_t to) noexcept;

 private:
  enum class State : std::uint8_t { idle, wanted, copying, ready };

  void map(std::uint32_t slots, std::size_t stride);
  std::uint32_t slice_end() const noexcept;

  /// Returns true if the slot must still be copied: false if its flow was copied elsewhere, or came later.
  bool takes(std::uint32_t slot) noexcept {
    if (!flows_move_) return true;
    if (marked(slot)) return false;
    mark(slot);
    return true;
  }
  bool marked(std::uint32_t slot) const noexcept { return marks_[slot] == mark_; }
  void mark(std::uint32_t slot) noexcept { marks_[slot] = mark_; }

  std::uint32_t slots_ = 0;
  std::uint32_t copied_ = 0;  ///< slots below this are in the running copy
  bool flows_move_;
  bool mark_ = true;         ///< value in marks_ of a copied slot; alternates
  std::vector<bool> marks_;  ///< by slot, if flows move: copied, or with a flow copied elsewhere
  std::atomic<State> state_{State::idle};
  std::uint64_t next_number_ = 1;  ///< snapshot that a record ending now belongs to
  FlowTally copies_, later_;       ///< counts in the running copy, and of packets to slots already copied
  Snapshot snapshot_;
};

}  // namespace parshall
