// SPDX-License-Identifier: Apache-2.0
#include "engine/worker_control.hpp"

#include <x86intrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace parshall {
namespace {

// Rough values from one machine: the starting point for learning.
constexpr std::array<double, FlowWeight::kClasses> kFlowsPerPacket{0.4,      1.0 / 11,  1.0 / 23,  1.0 / 45,
                                                                   1.0 / 90, 1.0 / 180, 1.0 / 360, 1.0 / 700};

template <class T>
void store(std::atomic<T>& to, T value) noexcept {
  to.store(value, std::memory_order_relaxed);
}
void add(std::atomic<std::uint64_t>& to, std::uint64_t more) noexcept {
  store(to, to.load(std::memory_order_relaxed) + more);
}

}  // namespace

WorkerControl::WorkerControl(const ControlPlan& plan, const StatePlan& states)
    : length_{WindowLength::Unit::ns, plan.window_ns},
      batch_(plan.batch),
      recalls_(plan.recalls),
      packet_(plan.packet),
      weighs_(plan.controller.mode == Controller::Mode::recover),
      controller_(*plan.graph(states), plan.packet, plan.controller),
      installed_(controller_.allocation()),
      told_(recalls_->size()),
      weighed_before_(states.names.size() * FlowWeight::kClasses),
      effective_before_(plan.by_tasks() ? plan.reduced.states() : states.names.size()),
      weighed_packets_(weighed_before_.size()),
      state_packets_(states.names.size()),
      effective_packets_(effective_before_.size()) {
  if (plan.by_tasks()) {
    by_tasks_.emplace(plan.demands.size(), plan.packet, plan.part_ns,
                      TaskController::Options{
                          .utilisation = plan.controller.utilisation,
                          .sheds = plan.controller.sheds && plan.prefer == Preference::packets,
                          .prefer = plan.prefer,
                          .costs = {.prior_sd = 0.35, .common_drift = 0.003, .own_drift = 0.005, .relaxing = 0.1}});
    reduced_ = plan.reduced;
    parts_of_state_ = plan.parts_of_state;
    part_ns_ = plan.part_ns;
    done_.resize(part_ns_.size());
    always_rows_ = plan.always_rows;
    demands_ = plan.demands;
  }
  parts_.reserve(std::max(states.names.size(), StateShares::kMostParts));
  tasks_.reserve(recalls_->size());
}

void WorkerControl::end_window(LinkPlace now, const WorkerLoad& load, std::span<const std::uint64_t> weighed_packets,
                               std::span<const std::uint64_t> effective_packets, std::uint64_t new_flows,
                               std::uint64_t rows, FlowStates& states) noexcept {
  const std::uint64_t began_cycles = __rdtsc();
  border_ns_ = length_.end_of(length_.number(now));
  const double elapsed_ns = static_cast<double>(now.latest_ns - std::exchange(began_ns_, now.latest_ns));
  take_since(weighed_packets.first(weighed_before_.size()), weighed_before_, weighed_packets_);
  for (std::size_t state = 0; state < state_packets_.size(); ++state) {
    const auto weighed = weighed_packets_.begin() + static_cast<std::ptrdiff_t>(state * FlowWeight::kClasses);
    state_packets_[state] = std::accumulate(weighed, weighed + FlowWeight::kClasses, 0.0);
  }
  take_since(effective_packets.first(effective_before_.size()), effective_before_, effective_packets_);
  const WorkerLoad since = load - std::exchange(load_, load);
  const std::uint64_t new_before = std::exchange(new_flows_, new_flows), rows_before = std::exchange(rows_, rows);
  if (!std::exchange(began_any_, true)) return;  // nothing to compare with
  if (by_tasks_) {
    decide_by_tasks(elapsed_ns, since, new_flows - new_before, rows - rows_before, states);
    return note(static_cast<std::uint64_t>(elapsed_ns), __rdtsc() - began_cycles, since.offered_to_flows() != 0);
  }
  controller_.end_window(
      {.window_ns = elapsed_ns,
       .busy_ns = elapsed_ns * since.busy_share(batch_),
       .offered = since.offered_to_flows(),
       .counted = static_cast<std::uint64_t>(std::accumulate(state_packets_.begin(), state_packets_.end(), 0.0)),
       .missed = since.missed,
       .shed = since.shed,
       .new_flows = new_flows - new_before,
       .hit_probability = std::nullopt,
       .base_packets = state_packets_,
       .packets = effective_packets_,
       .weighed_packets = weighed_packets_},
      tasks());
  install(states);
  note(static_cast<std::uint64_t>(elapsed_ns), __rdtsc() - began_cycles, since.offered_to_flows() != 0);
}

void WorkerControl::decide_by_tasks(double elapsed_ns, const WorkerLoad& since, std::uint64_t new_flows,
                                    std::uint64_t rows, FlowStates& states) noexcept {
  std::ranges::fill(done_, 0.0);
  done_[0] = static_cast<double>(rows);
  for (std::size_t state = 0; state < effective_packets_.size(); ++state)
    for (std::uint32_t left = parts_of_state_[state] & ~ControlPlan::kRowPart; left != 0; left &= left - 1)
      done_[static_cast<std::size_t>(std::countr_zero(left))] += effective_packets_[state];
  const bool has_weights = weighings_ >= kWeighedTwice;
  for (std::size_t i = 0; i < demands_.size(); ++i) {
    const RecallBoard::ShareByWeight heavier = recalls_->heavy_share(i);
    demands_[i].loss_exponent = (*recalls_)[i].loss_exponent.load(std::memory_order_relaxed);
    demands_[i].events = (*recalls_)[i].events.load(std::memory_order_relaxed);
    demands_[i].knows_weights = heavier.back() < 1;
    for (std::size_t weight = 0; weight < heavier.size(); ++weight)
      demands_[i].events_by_weight[weight] =
          std::max(0.0, heavier[weight] - (weight + 1 < heavier.size() ? heavier[weight + 1] : 0));
  }
  if (!has_weights) {  // then all weights count the same
    for (TaskDemand& demand : demands_) {
      demand.knows_weights = false;
      demand.events_by_weight = {};
      demand.events_by_weight.back() = 1;
    }
    for (std::size_t state = 0; state < state_packets_.size(); ++state) {
      const auto weighed = std::span(weighed_packets_).subspan(state * FlowWeight::kClasses, FlowWeight::kClasses);
      std::ranges::fill(weighed, 0.0);
      weighed.back() = state_packets_[state];
    }
  }
  std::array<double, FlowWeight::kClasses> alike;
  alike.fill(kFlowsPerPacket.front());
  const double busy_share = since.busy_share(batch_);
  const bool changed = by_tasks_->end_window(
      {.window_ns = elapsed_ns,
       .busy_ns = elapsed_ns * busy_share,
       .offered = since.offered_to_flows(),
       .counted = static_cast<std::uint64_t>(std::accumulate(state_packets_.begin(), state_packets_.end(), 0.0)),
       .missed = since.missed,
       .shed = since.shed,
       .new_flows = new_flows,
       .packets = weighed_packets_,
       .done = done_,
       .always = always_rows_,
       .flow_parts = ControlPlan::kRowPart,
       .flows_per_packet = has_weights ? kFlowsPerPacket : alike,
       .mixed_parts = 0b111},  // rows, TCP, and the times between packets
      demands_);
  if (changed) install_tasks(states);
  weigh(elapsed_ns, busy_share, states);
}

/// Weighs flows while it may matter, since it costs the first packet of each flow a look-up of its shares.
void WorkerControl::weigh(double elapsed_ns, double busy_share, FlowStates& states) noexcept {
  constexpr double kBusy = 0.6;
  if (busy_share < kBusy && !by_tasks_->gives_way()) {
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

/// Installs the tasks' shares of flows. A task inspects a flow if the flow's hash is below the task's share.
void WorkerControl::install_tasks(FlowStates& states) noexcept {
  const std::span<const TaskShare> tasks = by_tasks_->shares();
  states.change_shares([&](StateShares& shares) {
    for (std::size_t weight = 0; weight < FlowWeight::kClasses; ++weight) {
      std::uint32_t kept = (std::uint32_t{1} << tasks.size()) - 1, left = kept;
      std::array<StateShares::Part, StateShares::kMostParts> parts;  // targets, relative to base state 0 for now
      std::array<std::uint32_t, StateShares::kMostParts> kept_in{};
      std::size_t count = 0;
      double before = 0;
      while (true) {
        std::size_t least = tasks.size();  // next task to drop out
        for (std::uint32_t each = left; each != 0; each &= each - 1) {
          const auto task = static_cast<std::size_t>(std::countr_zero(each));
          if (least == tasks.size() || tasks[task].of_weight(weight) < tasks[least].of_weight(weight)) least = task;
        }
        const double end = least == tasks.size() ? 1 : tasks[least].of_weight(weight);
        if (end > before) {
          parts[count].share = end - before;
          kept_in[count++] = kept;
          before = end;
        }
        if (least == tasks.size()) break;
        kept &= ~(std::uint32_t{1} << least);
        left = kept;
      }
      for (std::size_t base = 0; base < reduced_.base_states(); ++base) {
        for (std::size_t i = 0; i < count; ++i)
          parts[i].to = reduced_.state_for(static_cast<std::uint8_t>(base), kept_in[i]);
        shares.set(static_cast<std::uint8_t>(base), weight, std::span(parts).first(count));
      }
    }
  });
}

std::optional<double> WorkerControl::packet_ns() const noexcept {
  const double packets = std::accumulate(effective_packets_.begin(), effective_packets_.end(), 0.0);
  if (packets == 0) return std::nullopt;
  if (by_tasks_) {
    const double parts_ns = std::inner_product(done_.begin(), done_.end(), part_ns_.begin(), 0.0) / packets;
    return packet_.total_ns(parts_ns);
  }
  // Uses the given costs, which do not include inserting. Learnt costs include the new flows of a flood, and would make
  // inserting look small.
  double all_ns = 0;
  for (std::size_t state = 0; state < effective_packets_.size(); ++state)
    all_ns += effective_packets_[state] * packet_.total_ns(controller_.graph()[state].cost_ns);
  return all_ns / packets;
}

void WorkerControl::take_since(std::span<const std::uint64_t> now, std::vector<std::uint64_t>& before,
                               std::vector<double>& since) noexcept {
  for (std::size_t state = 0; state < now.size(); ++state)
    since[state] = static_cast<double>(now[state] - std::exchange(before[state], now[state]));
}

/// Returns the tasks' state, or nothing until all have reported again: one step for each of the longest windows.
std::span<const GapRecovery::Task> WorkerControl::tasks() noexcept {
  for (std::size_t i = 0; i < told_.size(); ++i)
    if ((*recalls_)[i].told.load(std::memory_order_acquire) == told_[i]) return {};
  tasks_.clear();
  for (std::size_t i = 0; i < told_.size(); ++i) {
    told_[i] = (*recalls_)[i].told.load(std::memory_order_acquire);
    tasks_.push_back({(*recalls_)[i].states, (*recalls_)[i].threshold, recalls_->recall(i), recalls_->heavy_share(i)});
  }
  return tasks_;
}

/// Installs the allocation. If states may change, flows look up theirs again with their next packets. Flows are weighed
/// if heavy ones may have to be reduced.
void WorkerControl::install(FlowStates& states) noexcept {
  const Allocation& allocation = controller_.allocation();
  if (!weighs_ && allocation == installed_) return;
  const StateGraph& graph = controller_.graph();
  installed_ = allocation;
  states.change_shares([&](StateShares& shares) {
    for (std::size_t state = 0; state < allocation.size(); ++state) {
      const auto base = static_cast<std::uint8_t>(state);
      parts_.clear();
      allocation.each_part(base, [&](std::uint8_t to, double share) { parts_.push_back({to, share}); });
      shares.set(base, parts_);
      const StateShares::Part lightest{graph.after(graph.depth())[state], 1};
      for (std::size_t weight = controller_.heavy_from(); weight < FlowWeight::kClasses; ++weight)
        shares.set(base, weight, {&lightest, 1});
    }
  });
  if (weighs_) states.weigh();
}

void WorkerControl::note(std::uint64_t window_ns, std::uint64_t cycles, bool any_came) noexcept {
  const Shift shift = controller_.shift();
  add(counts_.windows, 1);
  const bool gives_way =
      by_tasks_ ? by_tasks_->gives_way() : shift.steps != 0 || controller_.heavy_from() != FlowWeight::kClasses;
  add(counts_.shifted, gives_way);
  add(counts_.infeasible, by_tasks_ ? !by_tasks_->fits() : shift.infeasible);
  add(counts_.cycles, cycles);
  store(counts_.longest_cycles, std::max(counts_.longest_cycles.load(std::memory_order_relaxed), cycles));
  add(counts_.ns, window_ns);
  add(counts_.shifted_ns, gives_way ? window_ns : 0);
  add(counts_.shed_ns, one_in() != 1 ? window_ns : 0);
  store(counts_.most_one_in, std::max(counts_.most_one_in.load(std::memory_order_relaxed), std::uint64_t{one_in()}));
  if (by_tasks_) {
    const std::uint32_t given_up = any_came ? by_tasks_->given_up() : 0;
    for (std::uint32_t left = given_up; left != 0; left &= left - 1)
      add(counts_.given_up_ns[static_cast<std::size_t>(std::countr_zero(left))], window_ns);
    store(counts_.given_up, given_up);
    store(counts_.looks_again_in_ns, by_tasks_->looks_again_in_ns());
    if (by_tasks_->blind_loss_satisfies_more()) add(counts_.blind_satisfies_more_ns, window_ns);
  }
  store(counts_.residual, by_tasks_ ? by_tasks_->residual() : controller_.residual());
}

}  // namespace parshall
