// SPDX-License-Identifier: Apache-2.0
#include "lab/overload/policy.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace parshall::lab {
namespace {

constexpr double kColdShare = 0.27;  ///< of Zipf's packets at 250,000 flows
/// Parts of the work, as bits.
enum Part : std::uint32_t { row = 1, tcp = 2, gaps = 4, round_trips = 8 };
constexpr std::size_t kParts = 4;
constexpr std::array<std::uint32_t, kOverloadTasks> kPartsOfTask{row, row | tcp, row | gaps, row | tcp | round_trips};
/// As simulated tasks lose events without adaptation; by EventMeasure.
constexpr std::array<std::array<double, kEventMeasures>, kOverloadTasks> kLossExponents{
    {{0.1, 0.1}, {1.2, 1.2}, {0.8, 0.8}, {2.05, 1.0}}};

std::uint32_t parts_of(TaskBits tasks) noexcept {
  std::uint32_t parts = 0;
  for (std::size_t task = 0; task < kOverloadTasks; ++task) parts |= (tasks >> task & 1) != 0 ? kPartsOfTask[task] : 0;
  return parts;
}

/// Returns the state with most of the tasks of this one, without them all; itself if there is none.
std::uint8_t lighter_state(const OverloadTraffic& traffic, std::size_t state) {
  const TaskBits own = traffic.tasks_of_state(state);
  std::size_t lighter = state;
  for (std::size_t other = 0; other < traffic.states(); ++other) {
    const TaskBits tasks = traffic.tasks_of_state(other);
    if (tasks == own || (tasks & ~own) != 0) continue;
    if (lighter == state || std::popcount(tasks) > std::popcount(traffic.tasks_of_state(lighter))) lighter = other;
  }
  return static_cast<std::uint8_t>(lighter);
}

OverloadSetup setup_of(const OverloadTraffic& traffic, const PacketCosts& costs, double price_error) {
  OverloadSetup setup{.tasks = kOverloadTasks,
                      .base_ns = costs.counting.mean_ns(kColdShare),
                      .part_ns = {costs.new_row_ns, price_error * costs.tcp.mean_ns(kColdShare),
                                  costs.gaps.mean_ns(kColdShare), price_error * costs.round_trips.mean_ns(kColdShare)},
                      .flow_parts = row,
                      .always = 0,
                      .lighter = {},
                      .parts_of_state = {}};
  for (std::size_t state = 0; state < traffic.states(); ++state) {
    setup.lighter.push_back(lighter_state(traffic, state));
    setup.parts_of_state.push_back(parts_of(traffic.tasks_of_state(state)));
  }
  return setup;
}

/// Returns each task with the states that have it, and its work.
std::vector<FollowedTask> tasks_of(const OverloadTraffic& traffic) {
  std::vector<FollowedTask> tasks(kOverloadTasks);
  for (std::size_t task = 0; task < kOverloadTasks; ++task) {
    for (std::size_t state = 0; state < traffic.states(); ++state)
      tasks[task].states |= std::uint64_t{static_cast<unsigned>(traffic.tasks_of_state(state)) >> task & 1} << state;
    tasks[task].parts = kPartsOfTask[task];
    tasks[task].by_keys = task == static_cast<std::size_t>(OverloadTask::heavy_hitters);
    tasks[task].counts = (kPartsOfTask[task] & tcp) != 0 ? 0b11 : 0b01;
    tasks[task].loss_exponent = kLossExponents[task];
  }
  return tasks;
}

/// Returns how often each part of the work was done.
std::array<double, kParts> work_of(const OverloadStep& step) {
  std::array<double, kParts> done{};
  for (const StepWork::ByWeight& rows : step.work.rows)
    for (const double count : rows) done[0] += count;
  for (std::size_t tasks = 0; tasks < step.work.followed.size(); ++tasks)
    for (std::size_t part = 1; part < kParts; ++part)
      if ((parts_of(static_cast<TaskBits>(tasks)) >> part & 1) != 0) done[part] += step.work.followed[tasks];
  return done;
}

}  // namespace

SimulatedPolicy::SimulatedPolicy(const OverloadPolicyEntry& entry, const OverloadTraffic& traffic,
                                 const PacketCosts& costs, double price_error)
    : traffic_(traffic), policy_(entry.make(setup_of(traffic, costs, price_error))), tasks_(tasks_of(traffic)) {}

void SimulatedPolicy::end_step(const OverloadStep& step, const OverloadMonitor& monitor) {
  if (!policy_) return;
  std::vector<double> packets;
  for (std::size_t state = 0; state < traffic_.states(); ++state)
    packets.insert(packets.end(), step.work.packets[state].begin(), step.work.packets[state].end());
  for (std::size_t task = 0; task < kOverloadTasks; ++task) {
    const OverloadMonitor::Known& known = monitor.known(task);
    tasks_[task].found = known.recall;
    tasks_[task].events = known.events.events();
    tasks_[task].flows = known.events.flows();
  }
  const std::array<double, kParts> done = work_of(step);
  const bool changed = policy_->end_window({.window_ns = step.step_ns,
                                            .busy_ns = step.busy_ns,
                                            .offered = step.offered,
                                            .counted = step.counted,
                                            .missed = step.missed,
                                            .packets = packets,
                                            .done = done,
                                            .flows_per_packet = FlowWeight::kFlowsPerPacket},
                                           tasks_);
  if (changed) install();
}

/// Makes tasks follow the flows whose hash is below their share.
void SimulatedPolicy::install() noexcept {
  for (std::size_t state = 0; state < traffic_.states(); ++state)
    for (std::size_t weight = 0; weight < FlowWeight::kClasses; ++weight)
      for (std::size_t hash = 0; hash < OverloadTraffic::kHashes; ++hash) {
        TaskBits tasks = 0;
        for (std::size_t task = 0; task < kOverloadTasks; ++task)
          tasks |= static_cast<TaskBits>(
              (static_cast<double>(hash) < policy_->share(task, state, weight) * OverloadTraffic::kHashes) << task);
        followed_.tasks[state][weight][hash] = tasks;
      }
}

}  // namespace parshall::lab
