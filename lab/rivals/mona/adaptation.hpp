// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lab/rivals/mona/state_graph.hpp"

namespace parshall::lab {

/// Degree of reduction: `share` of the flows are reduced by `steps` steps, the others by one step less, or not at all.
struct Shift {
  std::size_t steps = 0;
  double share = 0;          ///< 0 to 1
  bool infeasible = false;   ///< true: even the lightest states take longer than the time available
  bool others_stay = false;  ///< true: the others keep their own states

  /// Returns the steps of the others.
  std::size_t others_steps() const noexcept { return steps == 0 || others_stay ? 0 : steps - 1; }

  friend bool operator==(const Shift&, const Shift&) = default;
};

/// Returns the least shift with which tasks take at most `target_ns` of a packet on average. `base_packets` counts
/// packets by the state that flows would have without overload; using their actual states would make it oscillate. A
/// target within rounding of the lightest states' cost is met.
///
/// Cost:   0.8 us for a chain of 64 states; nothing is allocated.
/// Source: algorithm 1 of Tangari et al., MONA, IEEE/ACM ToN 2020, corrected: no shift if there is time, an end if
///         shifting changes nothing, and any graph. Cost falls with each step, so the step is found by bisection.
Shift shift_to(const StateGraph& graph, std::span<const double> base_packets, double target_ns) noexcept;

/// Returns a shift of as few flows as possible, which go all the way to their lightest states. If one step of a state's
/// path saves most of its time, tasks keep more flows this way than by steps of all flows.
///
/// Cost:   0.2 us for 64 states; nothing is allocated.
Shift few_shift_to(const StateGraph& graph, std::span<const double> base_packets, double target_ns) noexcept;

/// Returns the share of packets of these base states (bit i: state i) that keep their state; nullopt if there are none.
std::optional<double> share_staying(const StateGraph& graph, Shift shift, std::span<const double> base_packets,
                                    std::uint64_t states) noexcept;

/// Maps the flows of each base state to effective states, by shares of a flow's hash. As few flows as possible change
/// when the shares do.
///
/// Shape:  72 bytes for each of at most 64 base states, whose flows have at most four states. Nothing is allocated
///         after the constructor.
/// Cost:   state_of() takes 1 to 2 ns, apply() 1.3 us for 64 base states.
class Allocation {
 public:
  static constexpr std::size_t kMostStates = 4;  ///< states per base state: two by adaptation, one by gap recovery

  /// Starts with all flows in their base state. The graph's costs order the states' ranges of hashes.
  explicit Allocation(const StateGraph& graph);

  std::size_t size() const noexcept { return rows_.size(); }
  void apply(const StateGraph& graph, Shift shift) noexcept;

  /// Moves `share` of all flows of the base state from one state to another: no more than there are, and none if that
  /// needed a fifth state. Returns the share moved.
  double move(std::uint8_t base, std::uint8_t from, std::uint8_t to, double share) noexcept;

  /// Moves this part of the base state's flows that are elsewhere to one state; none if that needed a fifth state.
  void gather(std::uint8_t base, std::uint8_t to, double part) noexcept;

  double share(std::uint8_t base, std::uint8_t state) const noexcept;

  /// Returns the state of a flow with this hash, which must not be used for anything else.
  std::uint8_t state_of(std::uint8_t base, std::uint32_t hash) const noexcept {
    const Row& row = rows_[base];
    const int before = (hash > row.last[0]) + (hash > row.last[1]) + (hash > row.last[2]);
    return row.by_hash[static_cast<std::size_t>(before)];
  }

  /// Calls take(state, share) for each effective state of the base state, in order of hashes from 0.
  template <class Take>
  void each_part(std::uint8_t base, Take take) const {
    const Row& row = rows_[base];
    double before = 0;
    for (std::size_t i = 0; i < kMostStates; ++i) {
      const double end = (row.last[i] + 1.0) * 0x1p-32;
      if (end > before) take(row.by_hash[i], end - before);
      before = end;
    }
  }

  /// Returns the mean cost of the base state's packets, assuming the same share of heavy flows everywhere.
  double cost_ns(const StateGraph& graph, std::uint8_t base) const noexcept;

  /// Returns the mean cost of packets given by base state; entries missing from a short span count as 0.
  double mean_cost_ns(const StateGraph& graph, std::span<const double> base_packets) const noexcept;

  friend bool operator==(const Allocation&, const Allocation&) = default;

 private:
  struct Row {
    std::array<double, kMostStates> shares{};        ///< sum is 1
    std::array<std::uint32_t, kMostStates> last{};   ///< last hash of each state, in the order of by_hash
    std::array<std::uint8_t, kMostStates> states{};  ///< by cost; unused ones are 0
    std::array<std::uint8_t, kMostStates> by_hash{};
    std::uint8_t count = 0;

    friend bool operator==(const Row&, const Row&) = default;
  };

  void add(Row& row, std::uint8_t state, double share) const noexcept;
  static void divide_hashes(Row& row) noexcept;

  std::vector<Row> rows_;
  std::vector<std::uint8_t> rank_;  ///< rank of each state by cost, the lightest first
};

}  // namespace parshall::lab
