// SPDX-License-Identifier: Apache-2.0
#include "control/adaptive_policy.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace parshall {
namespace {

constexpr double kCostLearning = 0.3, kRowsLearning = 0.1;
constexpr double kLeastFactor = 0.1, kMostFactor = 20, kLeastFlows = 1.0 / 256, kMostFlows = 4;
constexpr std::uint64_t kFewestPackets = 64;  ///< a window with fewer teaches nothing
constexpr double kChooseEveryNs = 30e6;       ///< since a choice takes up to 0.5 ms
constexpr double kNews = 1.01;                ///< factor of what the last choice used of the time
constexpr double kWorthChangingPlan = 0.08;   ///< of a task, that a change must bring
constexpr double kReturning = 3;              ///< cost factor of flows in the first window in which they are back
constexpr double kSmall = 0.005;              ///< share of flows that come back at once
constexpr double kLeastReturn = 0.02, kNearlyAll = 0.75;

}  // namespace

AdaptivePolicy::AdaptivePolicy(OverloadSetup setup) : setup_(std::move(setup)), choice_(setup_.tasks) { rest(); }

void AdaptivePolicy::learn(const ControlWindow& window) noexcept {
  if (window.counted < kFewestPackets) return;
  const auto counted = static_cast<double>(window.counted);
  if (packets_.size() != window.packets.size()) packets_.assign(window.packets.size(), 0);
  const double all = std::accumulate(window.packets.begin(), window.packets.end(), 0.0);
  for (std::size_t i = 0; i < packets_.size(); ++i)
    packets_[i] += (is_first_ ? 1 : kCostLearning) * ((all > 0 ? window.packets[i] / all : 0) - packets_[i]);
  double told_ns = counted * setup_.base_ns;
  for (std::size_t part = 0; part < setup_.part_ns.size(); ++part) told_ns += window.done[part] * setup_.part_ns[part];
  if (!(told_ns > 0) || !std::isfinite(window.busy_ns)) return;
  const double factor = std::clamp(window.busy_ns / told_ns, kLeastFactor, kMostFactor);
  factor_ += (is_first_ ? 1 : kCostLearning) * (factor - factor_);
  is_first_ = false;
}

bool AdaptivePolicy::rise(double budget_ns) noexcept {
  TaskChoice::Plan less = now_;
  for (std::size_t task = 0; task < setup_.tasks; ++task)
    for (std::size_t weight = 0; weight < FlowWeight::kClasses; ++weight)
      less.shares[task][weight] = std::min(now_.shares[task][weight], target_.shares[task][weight]);
  const double less_ns = choice_.packet_ns(less), more_ns = choice_.packet_ns(target_) - less_ns;
  const double part = more_ns > 0 ? std::clamp((budget_ns - less_ns) / (kReturning * more_ns), kLeastReturn, 1.0) : 1;
  TaskChoice::Plan next = target_;
  if (part < kNearlyAll)
    for (std::size_t task = 0; task < setup_.tasks; ++task)
      for (std::size_t weight = 0; weight < FlowWeight::kClasses; ++weight) {
        const double from = less.shares[task][weight], left = target_.shares[task][weight] - from;
        if ((by_keys_ >> task & 1) == 0 && left > kSmall) next.shares[task][weight] = from + part * left;
      }
  const bool changes = next.shares != now_.shares;
  now_ = next;
  return changes;
}

bool AdaptivePolicy::end_window(const ControlWindow& window, std::span<const FollowedTask> tasks) noexcept {
  if (!(window.window_ns > 0)) return false;
  for (std::size_t task = 0; task < setup_.tasks; ++task) by_keys_ |= std::uint32_t{tasks[task].by_keys} << task;
  learn(window);
  const double rate_pps = rate_.add_window(window.offered, window.window_ns);
  if (is_first_) return false;
  if (!(rate_pps > 0)) return rest();
  TaskWork work{.packets = packets_,
                .base_ns = setup_.base_ns,
                .part_ns = setup_.part_ns,
                .flow_parts = setup_.flow_parts,
                .flows_per_packet = window.flows_per_packet,
                .always = setup_.always};
  for (double& per_packet : work.flows_per_packet) per_packet *= flows_factor_;
  choice_.set(tasks, work);
  if (const double rows = choice_.times(now_, 0); rows > 0 && window.counted >= kFewestPackets && window.done[0] > 0) {
    const double seen = window.done[0] / static_cast<double>(window.counted) / rows * flows_factor_;
    flows_factor_ += kRowsLearning * (std::clamp(seen, kLeastFlows, kMostFlows) - flows_factor_);
  }
  const double budget_ns = 1e9 / rate_pps / factor_;
  const TaskChoice::Plan all = choice_.all();
  const double used = choice_.packet_ns(now_) / budget_ns;  // above 1: packets will be lost
  since_choice_ns_ += window.window_ns;
  if (all.packet_ns <= budget_ns) {
    target_ = all;
  } else if (used > std::max(1.0, kNews * chosen_used_) || since_choice_ns_ >= kChooseEveryNs) {
    since_choice_ns_ = 0;
    const TaskChoice::Plan plan = choice_.choose(budget_ns, now_);
    if (used > 1 || plan.score >= now_.score + kWorthChangingPlan) target_ = plan;
    chosen_used_ = choice_.packet_ns(target_) / budget_ns;
  }
  const bool changed = rise(budget_ns);
  state_ = {.is_reduced = now_.shares != all.shares,
            .fits = choice_.least_ns() <= budget_ns,
            .given_up = given_up(tasks),
            .factor = factor_};
  return changed;
}

/// Lets all tasks follow all flows: nothing comes.
bool AdaptivePolicy::rest() noexcept {
  const bool changed = state_.is_reduced;
  for (std::size_t task = 0; task < setup_.tasks; ++task) now_.shares[task].fill(1);
  now_.goals = ~std::uint32_t{0};
  target_ = now_;
  state_ = {.factor = factor_};
  return changed;
}

/// Returns the tasks that are to find less than they want by any of their measures.
std::uint32_t AdaptivePolicy::given_up(std::span<const FollowedTask> tasks) const noexcept {
  std::uint32_t given_up = 0;
  for (std::size_t task = 0; task < setup_.tasks; ++task)
    for (std::size_t measure = 0; measure < kEventMeasures; ++measure)
      if ((tasks[task].counts >> measure & 1) != 0 &&
          (target_.goals >> (measure * FollowedTask::kMost + task) & 1) == 0)
        given_up |= std::uint32_t{1} << task;
  return given_up;
}

}  // namespace parshall
