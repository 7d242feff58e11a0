// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/flow_weight.hpp"
#include "base/result.hpp"
#include "base/stage_cost.hpp"
#include "pipeline/measure/tasks/task.hpp"
#include "pipeline/measure/windows/window_plan.hpp"

namespace parshall {

/// Returns all tasks.
std::span<const TaskEntry* const> task_registry() noexcept;

/// Returns the parameters that every task has.
std::span<const Parameter> common_parameters() noexcept;

/// Returns the name of a task's events: its parameter name=, or what comes before its parameters.
std::string name_of_task(const std::string& spec);

/// Returns what is wrong with names of tasks that were split at their commas: one is a parameter of the one before.
std::optional<Error> split_problem(std::span<const std::string> names);

/// Default options that tasks share.
struct TaskOptions {
  WindowLength window;
  KeyFields fields = KeyFields::five_tuple;
  std::size_t keys = 1 << 20;
  std::uint64_t seed = 0;
  double recall = 0.75;  ///< recall that reports should have when flows are reduced under overload
  std::string alarms;    ///< parameters of AlarmRules, for tasks that do not give their own
};

/// Task as requested by the user.
struct TaskSpec {
  std::string text;                          ///< NAME[:parameter=value,...] and so on; see TaskSets::make()
  std::uint64_t states = ~std::uint64_t{0};  ///< bit i: the task is for flows of monitoring state i
  bool skips_flows = false;  ///< true if it ignores flows of other states even though it uses no measures
};

/// Flows of a window that a task is for, by how much the task saw of them when some are reduced to lighter states. The
/// counts are by weight (FlowWeight).
struct FlowsSeen {
  using Counts = std::array<std::uint64_t, FlowWeight::kClasses>;

  Counts wholly{}, partly{}, not_at_all{};
  std::uint64_t packets = 0, packets_left_out = 0;  ///< packets of all of them, and of those not seen wholly

  /// Adds a flow in one of the task's states `states`.
  void add(const FlowWindow& flow, std::uint64_t states, std::uint8_t weight) noexcept {
    const bool whole = flow.wholly_in(states);
    ++(whole ? wholly : flow.partly_in(states) ? partly : not_at_all)[weight];
    packets += flow.packets;
    packets_left_out += whole ? 0 : flow.packets;
  }

  /// Adds flows that the task did not read: either it missed them, or it did not need them.
  void add(const UnreadFlows& flows, bool missed) noexcept {
    packets += flows.packets;
    packets_left_out += missed ? flows.packets : 0;
    for (std::size_t weight = 0; weight < not_at_all.size(); ++weight)
      (missed ? not_at_all : wholly)[weight] += flows.flows[weight];
  }
};

/// Tasks with windows of one length.
class TaskSet {
 public:
  struct Member {
    std::string name;
    std::string spec;  ///< TaskSpec::text
    std::size_t most;  ///< limit of events a window
    std::uint64_t states;
    bool finds_any;       ///< as in TaskEntry
    bool looks_at_flows;  ///< as in TaskEntry
    bool measures;        ///< true if it uses measures of flows, which flows in lighter states lack
    bool skips_flows;     ///< true if it skips flows whose state has dropped it
    bool finds_heavy = false, finds_shares = false;  ///< as in Task
    double recall;                                   ///< recall that its reports should have
    AlarmRules alarms;
    int priority;  ///< if not all tasks can reach their recall, those with the largest priority come first
    /// Events whose fraction `recall` is: bit 0, flows that have any; bit 1, each event.
    std::uint8_t counts = 1;
    bool counts_events = false, judges_flows = false;  ///< as in Task
    bool has_history = false;                          ///< true if its findings depend on flows' earlier windows
    std::unique_ptr<Task> task;
    std::uint64_t events = 0, dropped = 0;
    std::uint64_t keys_left_out = 0;    ///< keys without room, over all windows
    FlowsSeen::Counts found{};          ///< events of the last window, including dropped ones
    FlowsSeen::Counts each_found{};     ///< each event, in flows seen throughout
    FlowsSeen::Counts found_in_part{};  ///< part of `found`: about flows seen only in part
    FlowsSeen seen{};                   ///< flows of the open window, until forget_flows_seen()
    std::unique_ptr<StageCost> cost = std::make_unique<StageCost>();  ///< its packets are not counted
  };

  /// Returns the cost of counts that tasks share.
  const StageCost& shared_cost() const noexcept { return *shared_cost_; }

  TaskSet(WindowLength window, const TaskOptions& options)
      : window_(window), context_(window, options.fields, options.keys, options.seed), parted_(options.seed + 2) {}

  WindowLength window() const noexcept { return window_; }
  const MeasureSet& measures() const noexcept { return *context_.measures(); }
  std::span<const Member> members() const noexcept { return members_; }
  std::size_t memory_bytes() const noexcept;
  void forget_flows_seen() noexcept {
    for (Member& member : members_) member.seen = {};
  }

  void flows(std::span<const FlowWindow> flows);
  void unread(std::size_t state, const UnreadFlows& flows);
  /// Returns, for a state of flows, the bits of WindowPlan::read.
  std::uint64_t read(std::size_t state, std::size_t states) const noexcept;
  void bins(std::size_t first, std::span<const LinkBin> bins);
  void end(const EventWindow& window, const EventWriter::Take& take);

 private:
  friend class TaskSets;

  /// Returns the flows that are in one of the states: all, or copies in wanted_.
  std::span<const FlowWindow> of_states(std::span<const FlowWindow> flows, std::uint64_t states);

  WindowLength window_;
  TaskContext context_;
  std::vector<Member> members_;
  std::vector<FlowWindow> wanted_;
  PartedFlows parted_;
  std::unique_ptr<StageCost> shared_cost_ = std::make_unique<StageCost>();
};

/// All tasks of a run: one set for each length of windows.
class TaskSets {
 public:
  /// Makes tasks. Each spec is NAME[:parameter=value,...], NAME=CONDITION or NAME:parameter=value,...:CONDITION. Fails
  /// on an invalid spec, or if two tasks have the same name. Throws std::bad_alloc.
  static Result<TaskSets> make(std::span<const TaskSpec> specs, const TaskOptions& options);

  std::span<TaskSet> sets() noexcept { return sets_; }
  std::span<const TaskSet> sets() const noexcept { return sets_; }
  /// Returns the window plans for that many monitoring states.
  std::vector<WindowPlan> windows(std::size_t states = 1) const;
  std::vector<FindingNeeds> findings(std::size_t states = 1) const;
  std::size_t memory_bytes() const noexcept;

 private:
  std::optional<Error> add(const TaskSpec& asked, const TaskOptions& options);
  TaskSet& set_of(WindowLength window, const TaskOptions& options);

  std::vector<TaskSet> sets_;
};

/// Parses "100ms" or "2Mp": a time, or a number of packets.
Result<WindowLength> parse_window(const std::string& text);

}  // namespace parshall
