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

/// Every task there is.
std::span<const TaskEntry* const> task_registry() noexcept;

/// Parameters that every task has.
std::span<const Parameter> common_parameters() noexcept;

/// What tasks share, by default.
struct TaskOptions {
  WindowLength window;
  KeyFields fields = KeyFields::five_tuple;
  std::size_t keys = 1 << 20;
  std::uint64_t seed = 0;
  double recall = 0.75;  ///< that reports should have where flows give way
};

/// A task as it is asked for.
struct TaskSpec {
  std::string text;                          ///< NAME[:parameter=value,...] and so on: TaskSets::make()
  std::uint64_t states = ~std::uint64_t{0};  ///< bit i: it is for flows of monitoring state i
  bool gives_way = false;                    ///< though it goes by no measures: it looks at no flow of other states
};

/// Flows of a window that a task is for, by what became of them where some give way to lighter states.
/// By weight (FlowWeight).
struct FlowsSeen {
  using Counts = std::array<std::uint64_t, FlowWeight::kClasses>;

  Counts wholly{}, partly{}, not_at_all{};
  /// Flows that were shed, by estimate: what those that are seen stand for, without themselves; and its variance.
  std::array<double, FlowWeight::kClasses> shed{}, shed_variance{};
  std::uint64_t packets = 0, packets_given_way = 0;  ///< of all of them; of those that are not seen wholly

  /// `states`: the task's, of which the flow's is one.
  void add(const FlowWindow& flow, std::uint64_t states, std::uint8_t weight) noexcept {
    const bool whole = flow.wholly_in(states);
    ++(whole ? wholly : flow.partly_in(states) ? partly : not_at_all)[weight];
    packets += flow.packets;
    packets_given_way += whole ? 0 : flow.packets;
    if (flow.stands_for <= 1) [[likely]]
      return;
    const double n = flow.stands_for;
    shed[weight] += n - 1;
    shed_variance[weight] += n * (n - 1);
  }

  /// Flows at which it did not look: it missed them, or need not.
  void add(const UnreadFlows& flows, bool missed) noexcept {
    packets += flows.packets;
    packets_given_way += missed ? flows.packets : 0;
    const auto all = static_cast<double>(std::max<std::uint64_t>(flows.all_flows(), 1));
    for (std::size_t weight = 0; weight < not_at_all.size(); ++weight) {
      const double share = static_cast<double>(flows.flows[weight]) / all;
      (missed ? not_at_all : wholly)[weight] += flows.flows[weight];
      shed[weight] += share * flows.more_flows;
      shed_variance[weight] += share * flows.flows_variance;
    }
  }
};

/// Tasks of windows of one length.
class TaskSet {
 public:
  struct Member {
    std::string name;
    std::string spec;  ///< TaskSpec::text
    std::size_t most;  ///< events a window
    std::uint64_t states;
    bool finds_any;       ///< TaskEntry's
    bool looks_at_flows;  ///< TaskEntry's
    bool measures;        ///< it goes by measures of flows, which those in lighter states do not have
    bool gives_way;       ///< it looks at no flow whose state has given it up
    bool finds_heavy = false, finds_shares = false;  ///< Task's
    double recall;                                   ///< that its reports should have
    int priority;               ///< where not all tasks can have that: those with the largest have it first
    bool judges_flows = false;  ///< Task's
    bool has_history = false;   ///< what it finds goes by what flows did in windows before
    std::unique_ptr<Task> task;
    std::uint64_t events = 0, dropped = 0;
    std::uint64_t keys_left_out = 0;                 ///< for want of room, of all windows
    FlowsSeen::Counts found{};                       ///< events of the last window, with those dropped
    FlowsSeen::Counts found_in_part{};               ///< of these: of flows that were seen in part
    std::optional<FoundShare> share = std::nullopt;  ///< of the last window, of a sample: EventWriter's
    FlowsSeen seen{};                                ///< of the open window, until forget_flows_seen()
    std::unique_ptr<StageCost> cost = std::make_unique<StageCost>();  ///< its packets are not counted
  };

  /// Of counts that tasks share.
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
  /// By the state that flows are in, WindowPlan::read.
  std::uint64_t read(std::size_t state, std::size_t states) const noexcept;
  void bins(std::size_t first, std::span<const LinkBin> bins);
  void end(const EventWindow& window, const EventWriter::Take& take);

 private:
  friend class TaskSets;

  /// Those of the flows that are in one of the states: all, or copies in wanted_.
  std::span<const FlowWindow> of_states(std::span<const FlowWindow> flows, std::uint64_t states);

  WindowLength window_;
  TaskContext context_;
  std::vector<Member> members_;
  std::vector<FlowWindow> wanted_;
  PartedFlows parted_;
  std::unique_ptr<StageCost> shared_cost_ = std::make_unique<StageCost>();
};

/// All tasks of a run: a set for each length of windows.
class TaskSets {
 public:
  /// Each spec is NAME[:parameter=value,...], NAME=CONDITION or NAME:parameter=value,...:CONDITION. Fails on what it
  /// does not understand, and where two tasks have one name. Throws std::bad_alloc.
  static Result<TaskSets> make(std::span<const TaskSpec> specs, const TaskOptions& options);

  std::span<TaskSet> sets() noexcept { return sets_; }
  std::span<const TaskSet> sets() const noexcept { return sets_; }
  /// For so many monitoring states.
  std::vector<WindowPlan> windows(std::size_t states = 1) const;
  std::vector<FindingNeeds> findings(std::size_t states = 1) const;
  std::size_t memory_bytes() const noexcept;

 private:
  std::optional<Error> add(const TaskSpec& asked, const TaskOptions& options);
  TaskSet& set_of(WindowLength window, const TaskOptions& options);

  std::vector<TaskSet> sets_;
};

/// "100ms" or "2Mp": a time, or packets.
Result<WindowLength> parse_window(const std::string& text);

}  // namespace parshall
