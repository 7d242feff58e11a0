// SPDX-License-Identifier: Apache-2.0
#include "control/task_choice.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

namespace parshall {
namespace {

constexpr std::size_t kPlanWeights = FlowWeight::kClasses;
constexpr double kProbe = 1.0 / 32;      ///< share of flows that a task follows to learn about the others
constexpr double kEventsForChance = 10;  ///< with fewer, chance is unknown
constexpr double kUnlike = 0.02;         ///< error of recall for events of few flows that recur
constexpr double kFewFlows = 8;          ///< a share of fewer flows is chance, so all of them are followed or none
constexpr double kMargin = 0.15;         ///< recall above what is wanted, before what was given up gets any
constexpr double kLessSide = 0.9;        ///< part of the score that the measure with the smaller gain has
constexpr std::array kDeviations{1.6, 1.0, 0.5};
constexpr double kAlmost = 1e-9, kLeastNs = 1e-3, kNoLimitNs = std::numeric_limits<double>::max();
constexpr int kMostSets = 6;  ///< goals of which all sets are tried
/// Weight from which tasks by keys follow all flows, whatever showed events: these are few, and take next to nothing.
constexpr std::size_t kHeavy = 2;

}  // namespace

TaskChoice::TaskChoice(std::size_t tasks) : count_(tasks) {
  constexpr std::size_t kMostStates = 64;
  work_.reserve(TaskWork::kMostParts * kMostStates);
  groups_.reserve(TaskWork::kMostParts * kMostStates);
}

void TaskChoice::set(std::span<const FollowedTask> tasks, const TaskWork& work) noexcept {
  std::ranges::copy(tasks, tasks_.begin());
  work_.clear();
  const double all = std::accumulate(work.packets.begin(), work.packets.end(), 0.0);
  for (std::size_t state = 0; state < work.packets.size() / kPlanWeights; ++state) {
    const auto packets = work.packets.subspan(state * kPlanWeights, kPlanWeights);
    for (std::size_t part = 0; part < work.part_ns.size(); ++part) {
      bool is_always = part == 0 && (work.always >> state & 1) != 0;
      std::uint32_t who = 0;
      for (std::size_t task = 0; task < count_; ++task) {
        if ((tasks_[task].states >> state & 1) == 0 || (tasks_[task].parts >> part & 1) == 0) continue;
        who |= std::uint32_t{1} << task;
        is_always |= tasks_[task].counts == 0 || (tasks_[task].fixed >> state & 1) != 0;
      }
      if (who == 0 && !is_always) continue;
      auto found = std::ranges::find_if(work_, [&](const PartOfWork& other) {
        return other.part == part && other.is_always == is_always && (is_always || other.tasks == who);
      });
      if (found == work_.end()) {
        work_.push_back({part, who, is_always, {}});
        found = work_.end() - 1;
      }
      const bool is_of_flows = (work.flow_parts >> part & 1) != 0;
      for (std::size_t weight = 0; weight < kPlanWeights; ++weight)
        found->packets[weight] +=
            all > 0 ? packets[weight] / all * (is_of_flows ? work.flows_per_packet[weight] : 1) : 0;
    }
  }
  groups_.clear();
  always_ns_ = work.base_ns;
  for (const PartOfWork& one : work_) {
    const double part_ns = work.part_ns[one.part];
    if (one.is_always) {
      always_ns_ += part_ns * std::accumulate(one.packets.begin(), one.packets.end(), 0.0);
      continue;
    }
    auto group = std::ranges::find(groups_, one.tasks, &Group::tasks);
    if (group == groups_.end()) {
      groups_.push_back({one.tasks, {}});
      group = groups_.end() - 1;
    }
    for (std::size_t weight = 0; weight < kPlanWeights; ++weight) group->ns[weight] += part_ns * one.packets[weight];
  }
  goals_ = kept_ = 0;
  are_alike_ = std::ranges::all_of(tasks, [&](const FollowedTask& task) { return task.priority == tasks[0].priority; });
  for (std::size_t goal = 0; goal < kGoals; ++goal) {
    const std::size_t task = task_of(goal);
    if (task >= count_ || (tasks_[task].counts >> goal / FollowedTask::kMost & 1) == 0) continue;
    goals_ |= std::uint32_t{1} << goal;
    if (tasks_[task].by_keys) kept_ |= std::uint32_t{1} << goal;
    const ByWeight& events = tasks_[task].events[goal / FollowedTask::kMost];
    events_[goal] = std::accumulate(events.begin(), events.end(), 0.0);
    for (std::size_t weight = 0; weight < kPlanWeights; ++weight)
      by_weight_[goal][weight] = events_[goal] > 0 ? events[weight] / events_[goal] : 1.0 / kPlanWeights;
  }
}

/// Returns the share of flows that at least one of these tasks follows.
double TaskChoice::share_of(std::uint32_t tasks, const Plan& plan, std::size_t weight) noexcept {
  double share = 0;
  for (std::uint32_t left = tasks; left != 0; left &= left - 1)
    share = std::max(share, plan.shares[static_cast<std::size_t>(std::countr_zero(left))][weight]);
  return share;
}

double TaskChoice::packet_ns(const Plan& plan) const noexcept {
  double ns = always_ns_;
  for (const Group& group : groups_)
    for (std::size_t weight = 0; weight < kPlanWeights; ++weight)
      ns += group.ns[weight] * share_of(group.tasks, plan, weight);
  return ns;
}

double TaskChoice::times(const Plan& plan, std::size_t part) const noexcept {
  double times = 0;
  for (const PartOfWork& one : work_)
    if (one.part == part)
      for (std::size_t weight = 0; weight < kPlanWeights; ++weight)
        times += one.packets[weight] * (one.is_always ? 1 : share_of(one.tasks, plan, weight));
  return times;
}

TaskChoice::Plan TaskChoice::all() const noexcept {
  Plan plan;
  for (std::size_t task = 0; task < count_; ++task) plan.shares[task].fill(1);
  plan.packet_ns = packet_ns(plan);
  plan.goals = goals_;
  return plan;
}

double TaskChoice::found(const Plan& plan, std::size_t goal) const noexcept {
  return std::inner_product(by_weight_[goal].begin(), by_weight_[goal].end(), plan.shares[task_of(goal)].begin(), 0.0);
}

double TaskChoice::deviation(std::size_t goal, double recall) const noexcept {
  return std::hypot(std::sqrt(std::max(0.0, recall * (1 - recall)) / std::max(kEventsForChance, events_[goal])),
                    kUnlike);
}

/// Returns the probability that a window has the wanted recall, given the mean.
double TaskChoice::chance(std::size_t goal, double recall) const noexcept {
  if (recall >= 1 - kAlmost) return 1;
  const double missing = tasks_[task_of(goal)].recall - recall;
  return std::erfc(missing / (deviation(goal, recall) * std::numbers::sqrt2)) / 2;
}

double TaskChoice::score(const Plan& plan) const noexcept {
  std::array<double, kEventMeasures> gain{};
  for (std::size_t task = 0; task < count_; ++task)
    for (std::size_t measure = 0; measure < kEventMeasures; ++measure) {
      std::size_t goal = measure * FollowedTask::kMost + task;
      if ((goals_ >> goal & 1) == 0) goal = (goal + FollowedTask::kMost) % kGoals;  // it has the other measure only
      gain[measure] += chance(goal, found(plan, goal)) - without_[goal];
    }
  return kLessSide * std::min(gain[0], gain[1]) + (1 - kLessSide) / 2 * (gain[0] + gain[1]);
}

bool TaskChoice::is_whole(std::size_t task, std::size_t weight) const noexcept {
  return tasks_[task].by_keys || (tasks_[task].knows_weights && tasks_[task].flows[weight] < kFewFlows);
}

/// A raise of a task's share of flows, of one weight or of all.
struct TaskChoice::Step {
  double worth = 0;  ///< events for their time
  double to = 0, more_ns = 0;
  std::size_t task = FollowedTask::kMost, first = 0, last = 0;  ///< of weights
};

/// Returns what it takes to raise a task's share of these weights until its goals find `aims`.
TaskChoice::Step TaskChoice::step_of(const Plan& plan, std::size_t task, std::size_t first, std::size_t last,
                                     std::uint32_t missing, const ByGoal& aims, const ByGoal& finds) const noexcept {
  const double before = plan.shares[task][first];
  double to = 1, events = 0, more_ns = 0;
  for (const std::size_t goal : {task, task + FollowedTask::kMost}) {
    if ((missing >> goal & 1) == 0) continue;
    const auto parts = by_weight_[goal].begin();
    const double part =
        std::accumulate(parts + static_cast<std::ptrdiff_t>(first), parts + static_cast<std::ptrdiff_t>(last) + 1, 0.0);
    if (!(part > 0)) continue;
    if (!is_whole(task, last)) to = std::min(to, before + (aims[goal] - finds[goal]) / part);
    events += part;
  }
  if (before >= 1 || events == 0) return {};
  for (const Group& group : groups_) {
    if ((group.tasks >> task & 1) == 0) continue;
    for (std::size_t weight = first; weight <= last; ++weight)
      if (group.ns[weight] > 0) more_ns += group.ns[weight] * std::max(0.0, to - share_of(group.tasks, plan, weight));
  }
  return {(to - before) * events / std::max(kLeastNs, more_ns), to, more_ns, task, first, last};
}

/// Raises shares where what is missing of these goals takes least time, until they find `aims` or a packet takes
/// `budget_ns`. Gives up once a packet takes more than `most_ns`.
void TaskChoice::raise(Plan& plan, std::uint32_t goals, const ByGoal& aims, double budget_ns,
                       double most_ns) const noexcept {
  plan.packet_ns = packet_ns(plan);
  ByGoal finds{};
  std::uint32_t missing = 0;
  const auto find = [&](std::size_t task) {
    for (const std::size_t goal : {task, task + FollowedTask::kMost}) {
      missing &= ~(std::uint32_t{1} << goal);
      if ((goals >> goal & 1) == 0) continue;
      finds[goal] = found(plan, goal);
      if (finds[goal] < aims[goal] - kAlmost) missing |= std::uint32_t{1} << goal;
    }
  };
  for (std::size_t task = 0; task < count_; ++task) find(task);
  enum class Known : std::uint8_t { no, yes, too_much };
  std::array<std::array<Step, kPlanWeights>, FollowedTask::kMost> steps;  // that of all weights is the last one
  std::array<std::array<Known, kPlanWeights>, FollowedTask::kMost> known{};
  const auto forget = [](Known& step) {
    if (step == Known::yes) step = Known::no;
  };
  while (plan.packet_ns <= most_ns) {
    const Step* best = nullptr;
    for (std::size_t task = 0; task < count_; ++task) {
      if (((missing >> task | missing >> (task + FollowedTask::kMost)) & 1) == 0) continue;
      const bool by_weight = tasks_[task].knows_weights;
      for (std::size_t weight = kPlanWeights; weight-- > (by_weight ? 0 : kPlanWeights - 1);) {
        if (known[task][weight] == Known::too_much) continue;
        Step& step = steps[task][weight];
        if (std::exchange(known[task][weight], Known::yes) == Known::no)
          step = step_of(plan, task, by_weight ? weight : 0, weight, missing, aims, finds);
        if (step.worth > (best == nullptr ? 0 : best->worth)) best = &step;
      }
    }
    if (best == nullptr) return;
    const Step taken = *best;
    double part = 1;
    if (taken.more_ns > 0 && plan.packet_ns + taken.more_ns > budget_ns) {
      if (is_whole(taken.task, taken.last)) {
        known[taken.task][taken.last] = Known::too_much;
        continue;
      }
      part = std::max(0.0, (budget_ns - plan.packet_ns) / taken.more_ns);
    }
    for (std::size_t weight = taken.first; weight <= taken.last; ++weight) {
      double& share = plan.shares[taken.task][weight];
      share += part * (taken.to - share);
      for (std::size_t task = 0; task < count_; ++task) forget(known[task][weight]);
    }
    for (std::size_t task = 0; task < count_; ++task)
      if (!tasks_[task].knows_weights) forget(known[task].back());
    std::ranges::for_each(known[taken.task], forget);
    find(taken.task);
    plan.packet_ns = part == 1 ? plan.packet_ns + taken.more_ns : packet_ns(plan);
    if (part < 1) return;
  }
}

/// Returns the plan in which tasks follow this share of all flows, and tasks by keys the heavy ones.
TaskChoice::Plan TaskChoice::least(double probe) const noexcept {
  Plan plan;
  for (std::size_t task = 0; task < count_; ++task)
    for (std::size_t weight = 0; weight < kPlanWeights; ++weight)
      plan.shares[task][weight] = tasks_[task].counts == 0                        ? 1
                                  : !tasks_[task].by_keys                         ? probe
                                  : tasks_[task].knows_weights && weight < kHeavy ? 0
                                                                                  : 1;
  return plan;
}

/// Returns the cheapest plan in which these goals have what they want, with a margin of some standard deviations; an
/// incomplete one if its packets take more than `most_ns`.
TaskChoice::Plan TaskChoice::satisfy(std::uint32_t goals, double deviations, double most_ns) const noexcept {
  Plan plan = least(kProbe);
  ByGoal aims{};
  for (std::size_t goal = 0; goal < kGoals; ++goal) {
    const double wanted = tasks_[task_of(goal)].recall;
    aims[goal] = std::min(1.0, wanted + deviations * deviation(goal, wanted));
  }
  raise(plan, goals, aims, kNoLimitNs, most_ns);
  plan.goals = goals;
  return plan;
}

/// Returns the priority of the first of these goals.
int TaskChoice::priority_of(std::uint32_t goals) const noexcept {
  return tasks_[task_of(static_cast<std::size_t>(std::countr_zero(goals)))].priority;
}

/// Spends the rest of the time: first on a margin, then on goals that were given up, then on all.
void TaskChoice::fill(Plan& plan, double budget_ns) const noexcept {
  ByGoal margin{}, all{};
  for (std::size_t goal = 0; goal < kGoals; ++goal)
    margin[goal] = std::min(1.0, tasks_[task_of(goal)].recall + kMargin);
  all.fill(1);
  raise(plan, plan.goals, margin, budget_ns, kNoLimitNs);
  for (std::uint32_t left = goals_ & ~plan.goals; left != 0;) {
    int highest = std::numeric_limits<int>::min();
    for (std::uint32_t each = left; each != 0; each &= each - 1) highest = std::max(highest, priority_of(each));
    std::uint32_t now = 0;
    for (std::uint32_t each = left; each != 0; each &= each - 1)
      if (priority_of(each) == highest) now |= each & -each;
    raise(plan, now, margin, budget_ns, kNoLimitNs);
    left &= ~now;
  }
  raise(plan, goals_, all, budget_ns, kNoLimitNs);
  plan.score = score(plan);
}

void TaskChoice::consider(Plan plan, double budget_ns, Plan& best) const noexcept {
  fill(plan, budget_ns);
  if (is_better(plan, best)) best = plan;
}

/// Returns a number that grows with the goals, most with those of high priority.
double TaskChoice::rank(std::uint32_t goals) const noexcept {
  double rank = 0;
  for (std::uint32_t each = goals; each != 0; each &= each - 1) {
    double worth = 1;
    for (std::size_t task = 0; task < count_; ++task)
      if (tasks_[task].priority < priority_of(each)) worth *= kGoals;
    rank += worth;
  }
  return rank;
}

bool TaskChoice::is_better(const Plan& plan, const Plan& best) const noexcept {
  if (best.packet_ns == 0) return true;
  const double more = are_alike_ ? 0 : rank(plan.goals) - rank(best.goals);
  return more > 0 || (more == 0 && plan.score > best.score);
}

/// Considers sets of goals that fit: all that are in no other that does, if there are few goals of the same priority.
/// Otherwise the goal goes whose going saves most, of the lowest priority.
void TaskChoice::choose_goals(double deviations, double budget_ns, Plan& best) const noexcept {
  const std::uint32_t optional = goals_ & ~kept_;
  const int count = std::popcount(optional);
  if (Plan plan = satisfy(goals_, deviations, budget_ns); plan.packet_ns <= budget_ns)
    return consider(plan, budget_ns, best);
  if (count <= kMostSets && are_alike_) {
    std::array<std::uint32_t, 1u << kMostSets> fitting;
    std::size_t fit = 0;
    for (int size = count - 1; size >= 0; --size)
      for (std::uint32_t some = (optional - 1) & optional;; some = (some - 1) & optional) {
        const bool is_new =
            std::popcount(some) == size && std::none_of(fitting.begin(), fitting.begin() + fit,
                                                        [&](std::uint32_t more) { return (some & more) == some; });
        if (is_new)
          if (Plan plan = satisfy(kept_ | some, deviations, budget_ns); plan.packet_ns <= budget_ns) {
            fitting[fit++] = some;
            consider(plan, budget_ns, best);
          }
        if (some == 0) break;
      }
    return;
  }
  std::array<std::pair<int, double>, kGoals> savings{};  // priority, and packet time without the goal
  for (std::uint32_t left = optional; left != 0; left &= left - 1) {
    const auto goal = static_cast<std::size_t>(std::countr_zero(left));
    savings[goal] = {priority_of(left),
                     satisfy(goals_ & ~(std::uint32_t{1} << goal), deviations, kNoLimitNs).packet_ns};
  }
  for (std::uint32_t goals = goals_; (goals & ~kept_) != 0;) {
    std::uint32_t first = 0;
    for (std::uint32_t left = goals & ~kept_; left != 0; left &= left - 1)
      if (first == 0 || savings[static_cast<std::size_t>(std::countr_zero(left))] <
                            savings[static_cast<std::size_t>(std::countr_zero(first))])
        first = left & -left;
    goals &= ~first;
    if (const Plan plan = satisfy(goals, deviations, budget_ns); plan.packet_ns <= budget_ns)
      return consider(plan, budget_ns, best);
  }
}

TaskChoice::Plan TaskChoice::choose(double budget_ns, Plan& now) noexcept {
  Plan everything = all();
  for (std::size_t goal = 0; goal < kGoals; ++goal) {
    const double left = std::min(1.0, budget_ns / everything.packet_ns);
    without_[goal] = chance(goal, std::pow(left, tasks_[task_of(goal)].loss_exponent[goal / FollowedTask::kMost]));
  }
  now.packet_ns = packet_ns(now);
  now.score = score(now);
  everything.score = score(everything);
  if (everything.packet_ns <= budget_ns) return everything;
  Plan best;
  if (packet_ns(least(kProbe)) <= budget_ns)
    for (const double deviations : kDeviations) choose_goals(deviations, budget_ns, best);
  if (best.packet_ns > 0) return best;
  best = least(kProbe);
  if (packet_ns(best) > budget_ns) best = least(0);
  best.goals = kept_;
  fill(best, budget_ns);
  return best;
}

}  // namespace parshall
