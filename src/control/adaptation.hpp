// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "control/state_graph.hpp"

namespace parshall {

/// How far flows give way: `share` of them `steps` steps, the others one step less, or not at all.
struct Shift {
  std::size_t steps = 0;
  double share = 0;          ///< 0 to 1
  bool infeasible = false;   ///< the lightest states of all take longer than there is
  bool others_stay = false;  ///< of their own states

  /// That the others go.
  std::size_t others_steps() const noexcept { return steps == 0 || others_stay ? 0 : steps - 1; }

  friend bool operator==(const Shift&, const Shift&) = default;
};

/// The least shift with which tasks take no more than `target_ns` of a packet on average. `base_packets`: by the state
/// that flows would have, were there time for all; what they had in fact would make it swing. A target within rounding
/// of the lightest states' cost is met.
///
/// Cost:   0.8 us for a chain of 64 states; nothing is allocated.
/// Source: algorithm 1 of Tangari et al., MONA, IEEE TNSM 2020, mended: no shift where there is time, an end where
///         shifting changes nothing, any graph. The cost falls with each step, so that the step is found by halving.
Shift shift_to(const StateGraph& graph, std::span<const double> base_packets, double target_ns) noexcept;

/// The same with as few flows as can be, which go all the way: where one step of a state's path saves most of its time,
/// tasks keep more of their flows by it than by steps of all.
///
/// Cost:   0.2 us for 64 states; nothing is allocated.
Shift few_shift_to(const StateGraph& graph, std::span<const double> base_packets, double target_ns) noexcept;

/// What share of packets of these base states (bit i: state i) stays in them; nothing where there are none.
std::optional<double> share_staying(const StateGraph& graph, Shift shift, std::span<const double> base_packets,
                                    std::uint64_t states) noexcept;

/// Which state the flows of each base state have in fact: shares of them, by a hash of the flow, so that as few flows
/// as can be change when the shares do.
///
/// Shape: 72 bytes for each of at most 64 base states, whose flows have at most four states. Nothing is allocated after
///        the constructor.
/// Cost:  state_of() takes 1 to 2 ns, apply() 1.3 us for 64 base states.
class Allocation {
 public:
  static constexpr std::size_t kMostStates = 4;  ///< of one base state: two by adaptation, one by gap recovery

  /// All have their base state. The graph's costs order the states' ranges of hashes.
  explicit Allocation(const StateGraph& graph);

  std::size_t size() const noexcept { return rows_.size(); }
  void apply(const StateGraph& graph, Shift shift) noexcept;

  /// `share`, of all flows of the base state, goes from one state to another; no more than are there, and none where
  /// that would be a fifth state. What went.
  double move(std::uint8_t base, std::uint8_t from, std::uint8_t to, double share) noexcept;

  /// This part of the flows of the base state that are elsewhere goes to a state; none where it would be a fifth.
  void gather(std::uint8_t base, std::uint8_t to, double part) noexcept;

  double share(std::uint8_t base, std::uint8_t state) const noexcept;

  /// Of a flow whose hash, which nothing else goes by, is this.
  std::uint8_t state_of(std::uint8_t base, std::uint32_t hash) const noexcept {
    const Row& row = rows_[base];
    const int before = (hash > row.last[0]) + (hash > row.last[1]) + (hash > row.last[2]);
    return row.by_hash[static_cast<std::size_t>(before)];
  }

  /// take(state, share) for each state that flows of the base state have, in the order of their hashes from 0 on.
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

  /// What packets of a base state cost on average, where heavy flows are everywhere alike.
  double cost_ns(const StateGraph& graph, std::uint8_t base) const noexcept;

  /// And packets by base state, those of a span that is too short being none.
  double mean_cost_ns(const StateGraph& graph, std::span<const double> base_packets) const noexcept;

  friend bool operator==(const Allocation&, const Allocation&) = default;

 private:
  struct Row {
    std::array<double, kMostStates> shares{};        ///< they add up to 1
    std::array<std::uint32_t, kMostStates> last{};   ///< hash of each state, in the order of by_hash
    std::array<std::uint8_t, kMostStates> states{};  ///< by cost; unused ones are 0
    std::array<std::uint8_t, kMostStates> by_hash{};
    std::uint8_t count = 0;

    friend bool operator==(const Row&, const Row&) = default;
  };

  void add(Row& row, std::uint8_t state, double share) const noexcept;
  static void divide_hashes(Row& row) noexcept;

  std::vector<Row> rows_;
  std::vector<std::uint8_t> rank_;  ///< of each state by cost, the lightest first
};

}  // namespace parshall
