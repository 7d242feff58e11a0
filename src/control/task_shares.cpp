// SPDX-License-Identifier: Apache-2.0
#include "control/task_shares.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace parshall {
namespace {

constexpr std::size_t kShareClasses = FlowWeight::kClasses;
constexpr double kFewEvents = 10;  ///< with fewer, chance is unknown
constexpr int kHalvings = 8;       ///< bisections of what is left to give: down to 0.4 % of it

constexpr TaskShare kNothing(0);

/// Returns false if even all flows would not suffice, because packets are lost.
bool is_possible(const TaskDemand& task) noexcept { return task.recall <= 1; }

}  // namespace

double TaskDemand::recall_aimed_at(double deviations) const noexcept {
  const double sd = std::sqrt(std::max(0.0, recall * (1 - recall)) / std::max(kFewEvents, events));
  return std::min(1.0, recall + unlike + deviations * sd);
}

/// State of one choice.
struct TaskShares::Search {
  std::span<const TaskDemand> tasks;
  std::span<TaskShare> shares;
  TaskPrices& prices;
  double budget_ns;

  double now_ns() const noexcept { return prices.packet_ns(shares); }

  /// Cheapest share that reaches a wanted recall.
  struct Offer {
    TaskShare share;
    double ns = std::numeric_limits<double>::infinity();
  };
  Offer cheapest(std::size_t task, double recall) const noexcept {
    Offer best;
    prices.hold_but_for(task, shares);
    const double probe = least_of(tasks[task]);
    const auto offer = [&](std::size_t from, std::size_t below, double events) {
      const bool is_all = from == 0 && below == kShareClasses;  // all flows suffice, whatever the rounding
      const double with_others = events + probe * (1 - events);
      if (with_others < recall && !is_all) return;
      const double wanted = events > probe ? (recall - probe * (1 - events)) / events : 1;
      const TaskShare share(tasks[task].by_keys || with_others <= recall ? 1 : std::max(probe, wanted), from, below,
                            probe);
      const double ns = prices.packet_ns_with(share);
      const bool is_wider = below == kShareClasses;  // preferred among equal costs
      if (ns < best.ns || (is_wider && ns == best.ns)) best = {share, ns};
    };
    double events = 0;
    if (!tasks[task].knows_weights) {
      offer(0, kShareClasses, 1);
      return best;
    }
    for (std::size_t from = kShareClasses; from-- > 0;) {
      events += tasks[task].events_by_weight[from];
      offer(from, kShareClasses, events);
    }
    if (tasks[task].by_keys) return best;
    events = 0;
    for (std::size_t below = 1; below < kShareClasses; ++below) {
      events += tasks[task].events_by_weight[below - 1];
      offer(0, below, events);
    }
    return best;
  }

  static double least_of(const TaskDemand& task) noexcept { return task.by_keys ? 0 : task.probe; }

  /// Gives each task a few of its flows, if there is time for that.
  void probe() noexcept {
    for (std::size_t task = 0; task < tasks.size(); ++task) shares[task] = TaskShare(least_of(tasks[task]));
    if (now_ns() > budget_ns) std::ranges::fill(shares, kNothing);
  }

  /// Gives a task as much as there is time for, and at least what it has.
  void fill(std::size_t task) noexcept {
    double least = tasks[task].recall_with(shares[task]), most = 1;
    if (const Offer all = cheapest(task, 1); all.ns <= budget_ns) {
      shares[task] = all.share;
      return;
    }
    for (int i = 0; i < kHalvings; ++i) {
      const double recall = (least + most) / 2;
      const Offer offer = cheapest(task, recall);
      (offer.ns <= budget_ns ? least : most) = recall;
      if (offer.ns <= budget_ns) shares[task] = offer.share;
    }
  }
};

constexpr std::array<TaskShares::Margin, 3> TaskShares::kMargins{{{1.3, 0.90}, {0.9, 0.82}, {0.5, 0.69}}};

/// Chooses the margin: four tasks satisfied in two windows of three are more than three tasks in nine of ten.
TaskShares::Best TaskShares::best_margin(std::span<const TaskDemand> tasks, TaskPrices& prices,
                                         double budget_ns) noexcept {
  Best best;
  for (const Margin& margin : kMargins) {
    satisfy(tasks, prices, budget_ns, margin.deviations);
    const int count = std::popcount(satisfied_);
    if (count * margin.windows > best.satisfied) best = {margin.deviations, count * margin.windows};
    if (!fits_ || static_cast<std::size_t>(count) == tasks.size()) break;
  }
  return best;
}

double TaskDemand::chance_with(double found) const noexcept {
  const double sd = std::hypot(std::sqrt(std::max(0.0, found * (1 - found)) / std::max(kFewEvents, events)), unlike);
  if (sd == 0) return found >= recall ? 1 : 0;
  return std::erfc((recall - found) / (sd * std::numbers::sqrt2)) / 2;
}

double TaskShares::satisfied_of(std::span<const TaskDemand> tasks, TaskPrices& prices, double budget_ns) noexcept {
  return best_margin(tasks, prices, budget_ns).satisfied;
}

double TaskShares::choose(std::span<const TaskDemand> tasks, TaskPrices& prices, double budget_ns) noexcept {
  const Best best = best_margin(tasks, prices, budget_ns);
  satisfy(tasks, prices, budget_ns, best.deviations);
  if (!fits_) return best.satisfied;
  Search search{tasks, shares_, prices, budget_ns};
  const auto satisfied = static_cast<std::size_t>(std::popcount(satisfied_));
  const auto others = std::span(order_).first(tasks.size()).subspan(satisfied);
  std::ranges::stable_sort(others, std::ranges::greater(), [&](std::uint8_t task) { return tasks[task].priority; });
  for (const std::uint8_t task : others) search.fill(task);
  for (const std::uint8_t task : std::span(order_).first(satisfied)) search.fill(task);
  return best.satisfied;
}

void TaskShares::satisfy(std::span<const TaskDemand> tasks, TaskPrices& prices, double budget_ns,
                         double deviations) noexcept {
  satisfied_ = 0;
  fits_ = true;
  std::ranges::fill(shares_, TaskShare());
  const auto all = (std::uint64_t{1} << tasks.size()) - 1;
  if (prices.packet_ns(shares_) <= budget_ns) {
    satisfied_ = static_cast<std::uint32_t>(all);
    for (std::size_t task = 0; task < tasks.size(); ++task)
      if (!is_possible(tasks[task])) satisfied_ &= ~(std::uint32_t{1} << task);
    for (std::size_t task = 0; task < tasks.size(); ++task) order_[task] = static_cast<std::uint8_t>(task);
    return;
  }
  std::ranges::fill(shares_, kNothing);
  Search search{tasks, shares_, prices, budget_ns};
  fits_ = search.now_ns() <= budget_ns;
  if (!fits_) return;
  search.probe();
  std::size_t ordered = 0;
  std::uint32_t refused = 0;
  for (std::size_t task = 0; task < tasks.size(); ++task)
    if (!is_possible(tasks[task])) refused |= std::uint32_t{1} << task;
  while (ordered + static_cast<std::size_t>(std::popcount(refused)) < tasks.size()) {
    Search::Offer best;
    std::size_t chosen = tasks.size();
    int highest = std::numeric_limits<int>::min();
    for (std::size_t task = 0; task < tasks.size(); ++task)
      if (((satisfied_ | refused) >> task & 1) == 0) highest = std::max(highest, tasks[task].priority);
    for (std::size_t task = 0; task < tasks.size(); ++task) {
      if (((satisfied_ | refused) >> task & 1) != 0 || tasks[task].priority != highest) continue;
      const Search::Offer offer = search.cheapest(task, tasks[task].recall_aimed_at(deviations));
      if (chosen == tasks.size() || offer.ns < best.ns) best = offer, chosen = task;
    }
    if (best.ns <= budget_ns) {
      shares_[chosen] = best.share;
      satisfied_ |= std::uint32_t{1} << chosen;
      order_[ordered++] = static_cast<std::uint8_t>(chosen);
    } else {
      refused |= std::uint32_t{1} << chosen;
    }
  }
  for (; refused != 0; refused &= refused - 1) order_[ordered++] = static_cast<std::uint8_t>(std::countr_zero(refused));
}

}  // namespace parshall
