// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "pipeline/flow/flow_sample.hpp"
#include "pipeline/flow/identity.hpp"
#include "pipeline/flow/in_flight.hpp"
#include "pipeline/measure/states/state_plan.hpp"
#include "pipeline/measure/states/state_shares.hpp"

namespace parshall {

/// One worker's view of the monitoring states: which state a flow is in, by the rules and what tasks found.
///
/// Cost: of a new flow, its rules' filters (some 10 to 50 ns each); of a flow's first packet after findings or shares
///       changed, a look into them. Nothing for other packets.
class FlowStates {
 public:
  FlowStates(std::shared_ptr<const StatePlan> plan, bool can_wait, std::uint64_t seed);

  std::size_t size() const noexcept { return plan_->names.size(); }

  /// Whether a flow's state never changes, since no task's findings decide it.
  bool is_fixed() const noexcept { return plan_->outcomes.empty(); }

  /// Which rules' own conditions hold for the flow, as bits: fixed for its life.
  std::uint32_t rules_for(const FlowKey& flow) noexcept;

  /// By the findings that hold now.
  std::uint8_t state_of(const FlowKey& flow, std::uint32_t rules) const noexcept;

  /// What nothing else goes by: the same for both directions of a connection.
  std::uint16_t hash_of(const FlowKey& flow) const noexcept {
    return static_cast<std::uint16_t>(hash_.hash(both_ways(flow).first) >> 48);
  }

  /// Of a flow of that state and weight: the state that its measures are of.
  std::uint8_t effective_state(std::uint8_t state, std::uint16_t hash, std::uint8_t weight) const noexcept {
    return shares_.effective(state, hash, weight);
  }

  /// Flows are weighed anew whenever this changes, which version() does then too.
  std::uint8_t weighing() const noexcept { return weighing_; }

  /// Another number whenever state_of(), or effective_state() as well, may say another state; never 0.
  std::uint32_t state_version() const noexcept { return state_version_; }
  std::uint32_t version() const noexcept { return version_; }

  /// Other shares of flows give way: change(StateShares&).
  template <class Change>
  void change_shares(Change change) noexcept {
    change(shares_);
    raise(version_);
  }
  /// What flows had since the last time is their weight.
  void weigh() noexcept {
    ++weighing_;
    raise(version_);
  }

  /// More flows are looked at from here on: of these, `sample` takes those that were before at one in so many.
  void sample_grew(const FlowSample& sample, std::uint32_t from_one_in) noexcept {
    sample_ = &sample;
    grew_from_ = from_one_in;
    raise(version_);
    grew_version_ = version_;
  }
  /// Whether a flow may have been shed until then that has had no packet since `version`; and whether it was.
  bool may_come_back(std::uint32_t version) const noexcept {
    return sample_ != nullptr && static_cast<std::int32_t>(grew_version_ - version) > 0;
  }
  bool comes_back(const FlowKey& flow, std::uint32_t version) const noexcept {
    return may_come_back(version) && !sample_->takes(flow, grew_from_);
  }
  /// What flows of that state come to when all give way.
  std::uint8_t lightest(std::uint8_t state) const noexcept {
    while (plan_->lighter[state] != state) state = plan_->lighter[state];
    return state;
  }

  /// Whether other findings hold from a packet that stands there on.
  bool changes_at(LinkPlace place) const noexcept {
    return std::ranges::any_of(clocks_, [&](const Clock& clock) { return clock.length.at(place) >= clock.border; });
  }

  /// Goes to `place`. For every window length that changes there, calls settle(clock, window): what the worker knows of
  /// windows below that one has to be told, since where the input can wait, this waits for what tasks make of it.
  template <class Settle>
  void change(LinkPlace place, Settle settle) noexcept {
    std::uint64_t changed = 0;  // bit i: clocks_[i]
    for (std::size_t i = 0; i < clocks_.size(); ++i) {
      Clock& clock = clocks_[i];
      if (clock.length.at(place) < clock.border) continue;
      const std::uint64_t window = clock.length.number(place);
      clock.border = clock.length.end_of(window);
      settle(clock.clock, window == 0 ? 0 : window - 1);
      changed |= std::uint64_t{1} << i;
    }
    // Only now: who waits before it has told all that others wait for may wait for ever.
    for (; changed != 0; changed &= changed - 1) {
      const Clock& clock = clocks_[static_cast<std::size_t>(std::countr_zero(changed))];
      adopt(clock.clock, clock.length.number(place));
    }
    raise(state_version_);
    raise(version_);
  }

  /// Any thread: from now on nothing waits; what tasks have not found yet, they have not found.
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
  std::vector<StateRule> rules_;  ///< a copy of its own: filters keep what they compiled
  std::vector<Clock> clocks_;
  std::vector<const Reported*> reported_;  ///< by outcome: what holds now
  FlowIdentity hash_;
  StateShares shares_;
  std::uint32_t state_version_ = 1, version_ = 1;
  std::uint8_t weighing_ = 0;
  const FlowSample* sample_ = nullptr;  ///< null: it never grew
  std::uint32_t grew_from_ = 1, grew_version_ = 0;
};

}  // namespace parshall
