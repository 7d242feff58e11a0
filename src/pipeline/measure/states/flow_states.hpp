// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "pipeline/flow/both_ways.hpp"
#include "pipeline/flow/identity.hpp"
#include "pipeline/flow/in_flight.hpp"
#include "pipeline/measure/states/state_plan.hpp"
#include "pipeline/measure/states/state_shares.hpp"

namespace parshall {

/// One worker's view of the monitoring states: the state of a flow, by the rules and what tasks found.
///
/// Cost: for a new flow, its rules' filters (some 10 to 50 ns each); for a flow's first packet after findings or shares
///       changed, a lookup. Other packets cost nothing.
class FlowStates {
 public:
  FlowStates(std::shared_ptr<const StatePlan> plan, bool can_wait, std::uint64_t seed);

  std::size_t size() const noexcept { return plan_->names.size(); }

  /// Returns whether a flow's state never changes, because no task's findings affect it.
  bool is_fixed() const noexcept { return plan_->outcomes.empty(); }

  /// Returns, as bits, the rules whose own conditions hold for the flow; fixed for the flow's life.
  std::uint32_t rules_for(const FlowKey& flow) noexcept;

  /// Returns the state, given the findings that hold now.
  std::uint8_t state_of(const FlowKey& flow, std::uint32_t rules) const noexcept;

  /// Returns a hash that is used for nothing else, the same for both directions of a connection.
  std::uint16_t hash_of(const FlowKey& flow) const noexcept {
    return static_cast<std::uint16_t>(hash_.hash(both_ways(flow).first) >> 48);
  }

  /// Returns the state whose measures a flow of that state and weight gets.
  std::uint8_t effective_state(std::uint8_t state, std::uint16_t hash, std::uint8_t weight) const noexcept {
    return shares_.effective(state, hash, weight);
  }

  /// Returns a number whose change means that flows are weighed again. version() changes with it.
  std::uint8_t weighing() const noexcept { return weighing_; }

  /// Returns a number that changes whenever state_of() may return another state; never 0. version() also changes when
  /// effective_state() may.
  std::uint32_t state_version() const noexcept { return state_version_; }
  std::uint32_t version() const noexcept { return version_; }

  /// Changes which shares of flows are reduced to lighter states, by change(StateShares&).
  template <class Change>
  void change_shares(Change change) noexcept {
    change(shares_);
    raise(version_);
  }
  /// Starts a new weighing: the packets of a flow since the last one give its weight.
  void weigh() noexcept {
    ++weighing_;
    raise(version_);
  }

  /// Returns whether other findings hold from a packet at `place` on.
  bool changes_at(LinkPlace place) const noexcept {
    return std::ranges::any_of(clocks_, [&](const Clock& clock) { return clock.length.at(place) >= clock.border; });
  }

  /// Moves to `place`. For every window length with a new window there, calls settle(clock, window). It must report all
  /// that the worker knows of windows below that one: if the input can wait, this then waits for what tasks find in
  /// them.
  template <class Settle>
  void change(LinkPlace place, Settle settle) noexcept {
    std::uint64_t changed = 0;  // bit i stands for clocks_[i]
    for (std::size_t i = 0; i < clocks_.size(); ++i) {
      Clock& clock = clocks_[i];
      if (clock.length.at(place) < clock.border) continue;
      const std::uint64_t window = clock.length.number(place);
      clock.border = clock.length.end_of(window);
      settle(clock.clock, window == 0 ? 0 : window - 1);
      changed |= std::uint64_t{1} << i;
    }
    // Adopts findings only after all settle() calls: a worker that waits before it has reported everything could
    // deadlock with others.
    for (; changed != 0; changed &= changed - 1) {
      const Clock& clock = clocks_[static_cast<std::size_t>(std::countr_zero(changed))];
      adopt(clock.clock, clock.length.number(place));
    }
    raise(state_version_);
    raise(version_);
  }

  /// Any thread: ends all waiting. Findings that tasks do not have yet count as absent.
  void stop_waiting() noexcept { can_wait_.store(false, std::memory_order_relaxed); }

 private:
  struct Clock {
    std::uint32_t clock;
    WindowLength length;
    std::uint64_t border = 0;
  };

  static void raise(std::uint32_t& version) noexcept {
    if (++version == 0) ++version;
  }
  void adopt(std::uint32_t clock, std::uint64_t window) noexcept;

  std::shared_ptr<const StatePlan> plan_;
  std::atomic<bool> can_wait_;
  std::vector<StateRule> rules_;  ///< its own copy, since filters cache what they compile
  std::vector<Clock> clocks_;
  std::vector<const Reported*> reported_;  ///< findings that hold now, by outcome
  FlowIdentity hash_;
  StateShares shares_;
  std::uint32_t state_version_ = 1, version_ = 1;
  std::uint8_t weighing_ = 0;
};

}  // namespace parshall
