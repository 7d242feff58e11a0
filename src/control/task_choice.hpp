// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/flow_weight.hpp"
#include "control/task_work.hpp"

namespace parshall {

/// Unit in which a task's events are counted: flows that have any in the window, or each event.
enum class EventMeasure : std::uint8_t { flows, each };
inline constexpr std::size_t kEventMeasures = 2;

/// A task whose flows can be left out, and what is known of its events.
struct FollowedTask {
  using ByWeight = std::array<double, FlowWeight::kClasses>;

  std::uint64_t states = 0;   ///< bit i: the task follows flows of base state i
  std::uint64_t fixed = 0;    ///< the part of these states in which it follows all flows, whatever is chosen
  std::uint32_t parts = 0;    ///< bit j: part j of the work is done for its packets
  double recall = 0.75;       ///< wanted recall
  int priority = 0;           ///< tasks of the largest number are given up last
  bool by_keys = false;       ///< true: adds up flows by a key, so it is never given up, nor given a share by hash
  std::uint8_t counts = 1;    ///< bit i: EventMeasure i counts, at least one; the one with the smaller gain decides
  bool knows_weights = true;  ///< false: its flows are alike, and all weights get the same share
  ByWeight flows{};           ///< flows of a window, by weight
  std::array<ByWeight, kEventMeasures> events{};           ///< events of a window, with those of flows left out
  std::array<double, kEventMeasures> loss_exponent{1, 1};  ///< for random packet loss; see BlindLoss
};

/// Chooses for each task and weight the share of flows that it follows, within the time that a packet may take.
///
/// Each task follows flows of those weights that show most of its events for their time, until it finds the recall that
/// it wants. Where that is too much for all, the goal is given up whose absence saves most, of the lowest priority
/// first. The rest of the time goes to a margin for chance, then to what was given up. A goal is a task by one measure:
/// the chosen set of goals has the largest expected gain over no adaptation, by the measure that gains less.
///
/// Cost:   a choice for four tasks takes 0.05 to 0.5 ms, for sixteen 17 ms; nothing is allocated after the constructor.
/// Error:  with more than six goals their sets are not all tried.
/// Source: our own. MONA (Tangari et al., IEEE/ACM ToN 2020) leaves out shares of all flows, by hash.
class TaskChoice {
 public:
  using ByWeight = FollowedTask::ByWeight;

  explicit TaskChoice(std::size_t tasks);

  struct Plan {
    std::array<ByWeight, TaskWork::kMostTasks> shares{};
    double packet_ns = 0;
    double score = -1e9;      ///< tasks satisfied in a window, above those without adaptation
    std::uint32_t goals = 0;  ///< those that it satisfies; bit kMostTasks * EventMeasure + task
  };

  /// Sets traffic and events: as many tasks as the constructor was given. The memory behind the spans of `work` is not
  /// used later.
  void set(std::span<const FollowedTask> tasks, const TaskWork& work) noexcept;

  /// Returns the plan in which all tasks follow all flows.
  Plan all() const noexcept;
  double packet_ns(const Plan& plan) const noexcept;

  /// Returns the best plan whose packets take at most `budget_ns`; if none fits, one with tasks by keys alone. Gives
  /// `now` the time and the score that it has in this traffic.
  Plan choose(double budget_ns, Plan& now) noexcept;

  /// Returns how often a part of the work is done for a packet.
  double times(const Plan& plan, std::size_t part) const noexcept;

 private:
  static constexpr std::size_t kGoals = kEventMeasures * TaskWork::kMostTasks;

  /// Packets for which a part is done if one of some tasks follows their flow.
  struct Group {
    std::size_t part;
    std::uint32_t tasks;
    bool is_always;
    ByWeight packets;  ///< share of all packets; for parts done once a flow, of flows
  };
  using ByGoal = std::array<double, kGoals>;

  static std::size_t task_of(std::size_t goal) noexcept { return goal % TaskWork::kMostTasks; }
  double share_of(const Group& group, const Plan& plan, std::size_t weight) const noexcept;
  double found(const Plan& plan, std::size_t goal) const noexcept;
  double deviation(std::size_t goal, double recall) const noexcept;
  double chance(std::size_t goal, double recall) const noexcept;
  double score(const Plan& plan) const noexcept;
  bool is_whole(std::size_t task, std::size_t weight) const noexcept;
  struct Step;
  Step step_of(const Plan& plan, std::size_t task, std::size_t first, std::size_t last, std::uint32_t missing,
               const ByGoal& aims, const ByGoal& finds) const noexcept;
  void raise(Plan& plan, std::uint32_t goals, const ByGoal& aims, double budget_ns) const noexcept;
  Plan least(double probe) const noexcept;
  Plan satisfy(std::uint32_t goals, double deviations) const noexcept;
  void fill(Plan& plan, double budget_ns) const noexcept;
  bool is_better(const Plan& plan, const Plan& best) const noexcept;
  int priority_of(std::uint32_t goals) const noexcept;
  double rank(std::uint32_t goals) const noexcept;
  void consider(Plan plan, double budget_ns, Plan& best) const noexcept;
  void choose_goals(double deviations, double budget_ns, Plan& best) const noexcept;

  std::size_t count_;
  std::array<FollowedTask, TaskWork::kMostTasks> tasks_;
  std::vector<Group> groups_;
  std::array<double, TaskWork::kMostParts> part_ns_{};
  double base_ns_ = 0;
  std::uint32_t goals_ = 0, kept_ = 0;        ///< goals, and those of tasks by keys
  bool are_alike_ = true;                     ///< all tasks have the same priority
  ByGoal events_{}, without_{};               ///< in a window; chance of being satisfied without adaptation
  std::array<ByWeight, kGoals> by_weight_{};  ///< share of the events
};

}  // namespace parshall
