// SPDX-License-Identifier: Apache-2.0
#include "engine/worker_control.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/clock.hpp"

namespace parshall {
namespace {

template <class T>
void store(std::atomic<T>& to, T value) noexcept {
  to.store(value, std::memory_order_relaxed);
}
void add(std::atomic<std::uint64_t>& to, std::uint64_t more) noexcept {
  store(to, to.load(std::memory_order_relaxed) + more);
}

/// Returns what was added to each total.
void take_since(std::span<const std::uint64_t> now, std::vector<std::uint64_t>& before,
                std::vector<double>& since) noexcept {
  for (std::size_t i = 0; i < before.size(); ++i)
    since[i] = static_cast<double>(now[i] - std::exchange(before[i], now[i]));
}

}  // namespace

WorkerControl::WorkerControl(std::shared_ptr<const ControlPlan> plan, const StatePlan& states)
    : held_(std::move(plan)),
      plan_(*held_),
      length_{WindowLength::Unit::ns, plan_.window_ns},
      policy_(plan_.groups.empty() ? nullptr : plan_.policy->make(plan_.setup)),
      groups_(plan_.groups),
      done_(plan_.setup.part_ns.size()),
      weighed_before_(states.names.size() * FlowWeight::kClasses),
      effective_before_(plan_.reduced.states()),
      weighed_packets_(weighed_before_.size()),
      effective_packets_(effective_before_.size()) {}

void WorkerControl::end_window(LinkPlace now, const WorkerLoad& load, std::span<const std::uint64_t> weighed_packets,
                               std::span<const std::uint64_t> effective_packets, std::uint64_t new_flows,
                               std::uint64_t rows, FlowStates& states) noexcept {
  const std::uint64_t began_cycles = cpu_ticks();
  border_ns_ = length_.end_of(length_.number(now));
  const double elapsed_ns = static_cast<double>(now.latest_ns - std::exchange(began_ns_, now.latest_ns));
  take_since(weighed_packets, weighed_before_, weighed_packets_);
  take_since(effective_packets, effective_before_, effective_packets_);
  const WorkerLoad since = load - std::exchange(load_, load);
  const std::uint64_t new_before = std::exchange(new_flows_, new_flows), rows_before = std::exchange(rows_, rows);
  if (!std::exchange(began_any_, true)) return;  // nothing to compare with
  if (policy_) {
    sum_up(rows - rows_before);
    ask_policy(elapsed_ns, since, new_flows - new_before, states);
  }
  note(static_cast<std::uint64_t>(elapsed_ns), cpu_ticks() - began_cycles, since.offered_to_flows() != 0);
}

/// Counts how often each part of the work was done.
void WorkerControl::sum_up(std::uint64_t rows) noexcept {
  std::ranges::fill(done_, 0.0);
  done_[0] = static_cast<double>(rows);
  for (std::size_t state = 0; state < effective_packets_.size(); ++state)
    for (std::uint32_t left = plan_.parts_of_state[state] & ~ControlPlan::kRowPart; left != 0; left &= left - 1)
      done_[static_cast<std::size_t>(std::countr_zero(left))] += effective_packets_[state];
}

/// Asks the board for what is known of the tasks in each group.
void WorkerControl::ask_board() noexcept {
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    FollowedTask& followed = groups_[group];
    followed.knows_weights = weighings_ >= kWeighedTwice;
    followed.found = std::nullopt;
    followed.flows = {};
    followed.events = {};
    followed.loss_exponent = {};
    for (const std::size_t task : plan_.tasks_of_group[group]) {
      const KnownEvents known = plan_.recalls->known(task);
      followed.knows_weights &= known.knows_weights;
      if (known.recall) followed.found = std::min(followed.found.value_or(1), *known.recall);
      for (std::size_t weight = 0; weight < FlowWeight::kClasses; ++weight) {
        followed.flows[weight] = std::max(followed.flows[weight], known.flows[weight]);
        for (std::size_t measure = 0; measure < kEventMeasures; ++measure)
          followed.events[measure][weight] += known.events[measure][weight];
      }
      for (std::size_t measure = 0; measure < kEventMeasures; ++measure)
        followed.loss_exponent[measure] = std::max(followed.loss_exponent[measure], known.loss_exponent[measure]);
    }
  }
}

void WorkerControl::ask_policy(double elapsed_ns, const WorkerLoad& since, std::uint64_t new_flows,
                               FlowStates& states) noexcept {
  ask_board();
  std::array<double, FlowWeight::kClasses> flows_per_packet = FlowWeight::kFlowsPerPacket;
  const double counted = std::accumulate(weighed_packets_.begin(), weighed_packets_.end(), 0.0);
  if (weighings_ < kWeighedTwice) flows_per_packet.fill(FlowWeight::kFlowsPerPacket.front());
  const double busy_share = since.busy_share(plan_.batch);
  const bool changed = policy_->end_window({.window_ns = elapsed_ns,
                                            .busy_ns = elapsed_ns * busy_share,
                                            .offered = since.offered_to_flows(),
                                            .counted = static_cast<std::uint64_t>(counted),
                                            .missed = since.missed,
                                            .new_flows = new_flows,
                                            .packets = weighed_packets_,
                                            .done = done_,
                                            .flows_per_packet = flows_per_packet},
                                           groups_);
  if (changed) install(states);
  weigh(elapsed_ns, busy_share, states);
}

/// Weighs flows while it may matter, since it costs the first packet of each flow a look-up of its shares.
void WorkerControl::weigh(double elapsed_ns, double busy_share, FlowStates& states) noexcept {
  constexpr double kBusy = 0.6;
  if (busy_share < kBusy && !policy_->state().is_reduced) {
    weighings_ = 0;
    weighed_ns_ = 0;
    return;
  }
  weighed_ns_ += elapsed_ns;
  if (weighings_ != 0 && weighed_ns_ < static_cast<double>(FlowWeight::kSpanNs)) return;
  weighed_ns_ = 0;
  weighings_ = std::min(weighings_ + 1, kWeighedTwice);
  states.weigh();
}

/// Installs the shares of flows that groups follow.
void WorkerControl::install(FlowStates& states) const noexcept {
  const std::size_t count = groups_.size();
  states.change_shares([&](StateShares& shares) {
    for (std::size_t base = 0; base < plan_.reduced.base_states(); ++base)
      for (std::size_t weight = 0; weight < FlowWeight::kClasses; ++weight) {
        std::uint32_t kept = (std::uint32_t{1} << count) - 1;
        std::array<StateShares::Part, StateShares::kMostParts> parts;
        std::size_t used = 0;
        for (double before = 0; before < 1;) {
          std::size_t least = count;  // next group to drop out
          double end = 1;
          for (std::uint32_t left = kept; left != 0; left &= left - 1) {
            const auto group = static_cast<std::size_t>(std::countr_zero(left));
            const double share = policy_->share(group, base, weight);
            if (share >= end) continue;
            least = group;
            end = share;
          }
          if (end > before)
            parts[used++] = {plan_.reduced.state_for(static_cast<std::uint8_t>(base), kept), end - before};
          before = std::max(before, end);
          if (least != count) kept &= ~(std::uint32_t{1} << least);
        }
        shares.set(static_cast<std::uint8_t>(base), weight, std::span(parts).first(used));
      }
  });
}

std::optional<double> WorkerControl::packet_ns() const noexcept {
  const double packets = std::accumulate(effective_packets_.begin(), effective_packets_.end(), 0.0);
  if (packets == 0) return std::nullopt;
  const std::vector<double>& part_ns = plan_.setup.part_ns;
  return plan_.setup.base_ns + std::inner_product(done_.begin(), done_.end(), part_ns.begin(), 0.0) / packets;
}

void WorkerControl::note(std::uint64_t window_ns, std::uint64_t cycles, bool any_came) noexcept {
  const OverloadState state = policy_ ? policy_->state() : OverloadState();
  add(counts_.windows, 1);
  add(counts_.reduced, state.is_reduced);
  add(counts_.infeasible, !state.fits);
  add(counts_.cycles, cycles);
  store(counts_.longest_cycles, std::max(counts_.longest_cycles.load(std::memory_order_relaxed), cycles));
  add(counts_.ns, window_ns);
  add(counts_.reduced_ns, state.is_reduced ? window_ns : 0);
  const std::uint32_t given_up = any_came ? state.given_up : 0;
  for (std::uint32_t left = given_up; left != 0; left &= left - 1)
    add(counts_.given_up_ns[static_cast<std::size_t>(std::countr_zero(left))], window_ns);
  store(counts_.given_up, given_up);
  store(counts_.factor, state.factor);
}

}  // namespace parshall
