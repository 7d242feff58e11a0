// SPDX-License-Identifier: Apache-2.0
#include "control/task_prices.hpp"

#include <algorithm>
#include <bit>

#include "control/state_graph.hpp"

namespace parshall {
namespace {

constexpr std::size_t kClasses = FlowWeight::kClasses;
constexpr std::size_t kMostStates = StateGraph::kMostStates;

/// Returns how mixed packets are if a part is done for this share; 1 for half of the packets.
double mixed(double share) noexcept { return 4 * share * (1 - share); }

}  // namespace

TaskPrices::TaskPrices() {
  groups_.reserve(TaskWork::kMostParts * kMostStates);
  of_task_.reserve(groups_.capacity());
}

/// Finds or adds a group; searches from the end, where the groups of the same part are.
TaskPrices::Group& TaskPrices::group_of(std::size_t part, std::uint32_t tasks, bool is_done) noexcept {
  for (std::size_t i = groups_.size(); i-- > 0 && groups_[i].part == part;)
    if (groups_[i].tasks == tasks && groups_[i].is_done == is_done) return groups_[i];
  return groups_.emplace_back(Group{part, tasks, is_done, {}, {}});
}

void TaskPrices::set(std::span<const TaskDemand> tasks, const TaskWork& work) noexcept {
  work_ = work;
  work_.part_ns = work.part_ns.first(std::min(work.part_ns.size(), TaskWork::kMostParts));
  work_.packets = {};
  groups_.clear();
  double all = 0;
  for (const double packets : work.packets) all += packets;
  if (!(all > 0)) return;
  const std::size_t states = std::min(work.packets.size() / kClasses, kMostStates);
  for (std::size_t part = 0; part < work_.part_ns.size(); ++part)
    for (std::size_t state = 0; state < states; ++state) {
      const auto packets = work.packets.subspan(state * kClasses, kClasses);
      if (std::ranges::all_of(packets, [](double of_weight) { return of_weight == 0; })) continue;
      std::uint32_t of = 0;
      bool is_done = part == 0 && (work.always >> state & 1) != 0;
      for (std::size_t task = 0; task < tasks.size(); ++task) {
        if ((tasks[task].states >> state & tasks[task].parts >> part & 1) == 0) continue;
        of |= std::uint32_t{1} << task;
        is_done |= (tasks[task].fixed >> state & 1) != 0;
      }
      if (of == 0 && !is_done) continue;
      Group& group = group_of(part, is_done ? 0 : of, is_done);
      for (std::size_t weight = 0; weight < kClasses; ++weight) group.packets[weight] += packets[weight] / all;
    }
}

/// Returns the share of flows of each weight that at least one of these tasks inspects.
TaskPrices::ByWeight TaskPrices::looked_at(const Group& group, std::uint32_t tasks,
                                           std::span<const TaskShare> shares) noexcept {
  ByWeight most{};
  if (group.is_done) most.fill(1);
  for (std::uint32_t left = tasks; left != 0; left &= left - 1) {
    const TaskShare& share = shares[static_cast<std::size_t>(std::countr_zero(left))];
    for (std::size_t weight = 0; weight < kClasses; ++weight)
      most[weight] = std::max(most[weight], share.of_weight(weight));
  }
  return most;
}

void TaskPrices::add(const Group& group, const ByWeight& looked_at, Done& done) const noexcept {
  const bool of_flows = (work_.flow_parts >> group.part & 1) != 0;
  double packets = 0, flows = 0;
  for (std::size_t weight = 0; weight < kClasses; ++weight) {
    const double done_for = group.packets[weight] * looked_at[weight];
    packets += done_for;
    flows += done_for * work_.flows_per_packet[weight];
  }
  done.packets += packets;
  done.times += of_flows ? flows : packets;
}

double TaskPrices::part_ns(std::size_t part, const Done& done) const noexcept {
  return done.times * work_.part_ns[part] +
         ((work_.mixed_parts >> part & 1) != 0 ? mixed(done.packets) * work_.mixed_ns : 0);
}

TaskPrices::Amounts TaskPrices::amounts(std::span<const TaskShare> shares) const noexcept {
  std::array<Done, TaskWork::kMostParts> done{};
  for (const Group& group : groups_) {
    add(group, looked_at(group, group.tasks, shares), done[group.part]);
  }
  Amounts amounts;
  for (std::size_t part = 0; part < done.size(); ++part) {
    amounts.times[part] = done[part].times;
    if ((work_.mixed_parts >> part & 1) != 0) amounts.mixed += mixed(done[part].packets);
  }
  return amounts;
}

double TaskPrices::packet_ns(std::span<const TaskShare> shares) const noexcept {
  const Amounts amounts = this->amounts(shares);
  double ns = work_.base_ns + amounts.mixed * work_.mixed_ns;
  for (std::size_t part = 0; part < work_.part_ns.size(); ++part) ns += amounts.times[part] * work_.part_ns[part];
  return ns;
}

void TaskPrices::hold_but_for(std::size_t task, std::span<const TaskShare> shares) noexcept {
  others_.fill({});
  of_task_.clear();
  std::uint32_t parts = 0;
  for (const Group& group : groups_) {
    const bool is_its = (group.tasks >> task & 1) != 0;
    const ByWeight others = looked_at(group, group.tasks & ~(std::uint32_t{1} << task), shares);
    if (!is_its) {
      add(group, others, others_[group.part]);
      continue;
    }
    parts |= std::uint32_t{1} << group.part;
    of_task_.push_back(group);
    of_task_.back().held = others;
  }
  held_ns_ = work_.base_ns;
  for (std::size_t part = 0; part < work_.part_ns.size(); ++part)
    if ((parts >> part & 1) == 0) held_ns_ += part_ns(part, others_[part]);
}

double TaskPrices::packet_ns_with(const TaskShare& share) const noexcept {
  double ns = held_ns_;
  for (std::size_t i = 0; i < of_task_.size();) {
    const std::size_t part = of_task_[i].part;
    Done done = others_[part];
    for (; i < of_task_.size() && of_task_[i].part == part; ++i) {
      ByWeight looked_at;
      for (std::size_t weight = 0; weight < kClasses; ++weight)
        looked_at[weight] = std::max(of_task_[i].held[weight], share.of_weight(weight));
      add(of_task_[i], looked_at, done);
    }
    ns += part_ns(part, done);
  }
  return ns;
}

}  // namespace parshall
