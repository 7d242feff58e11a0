// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/measure/tasks/aggregate.hpp"
#include "pipeline/measure/tasks/alarm_rules.hpp"
#include "pipeline/measure/tasks/arguments.hpp"
#include "pipeline/measure/tasks/event.hpp"
#include "pipeline/measure/tasks/fields.hpp"
#include "pipeline/measure/windows/flow_measure.hpp"

namespace parshall {

/// Analysis of each window's flows. One thread, not a worker's, calls it: one window at a time, in order, with the
/// flows of all workers.
class Task {
 public:
  virtual ~Task() = default;

  /// Takes some of the window's flows that are in the task's states. Tasks that use an Aggregate need not override it.
  virtual void flows(std::span<const FlowWindow>) {}

  /// Takes the sum over flows, of one worker and state, that the task does not read one by one. For a task that reads
  /// flows, these are the ones reduced to lighter states.
  virtual void unread(const UnreadFlows&) {}

  /// Takes the traffic of the whole link in parts of the window, from part `first` on. It is from one worker, so it
  /// must be added up. Called only after TaskContext::ask_for_bins().
  virtual void bins(std::size_t /*first*/, std::span<const LinkBin>) {}

  /// Returns whether it looks for keys that consist almost entirely of heavy flows, so that light flows may be reduced.
  virtual bool finds_heavy() const noexcept { return false; }

  /// Returns whether it judges single flows by all they did in the window.
  virtual bool judges_flows() const noexcept { return false; }

  /// Returns whether a flow that it reports can have more than one event.
  virtual bool counts_events() const noexcept { return false; }

  /// Returns whether its findings depend on shares of the traffic, which losses do not change.
  virtual bool finds_shares() const noexcept { return false; }

  /// Ends the window: writes the findings and clears the state.
  virtual void end(EventWriter& events) = 0;

  /// Returns the most memory that it uses itself; aggregates are shared.
  virtual std::size_t memory_bytes() const noexcept { return 0; }
};

/// State that tasks with windows of one length share.
class TaskContext {
 public:
  /// `keys` limits each aggregate and task.
  TaskContext(WindowLength window, KeyFields fields, std::size_t keys, std::uint64_t seed)
      : window_(window), fields_(fields), keys_(keys), seed_(seed) {}

  /// Declares that the following requests are for a task of flows in these states; bit i stands for state i.
  void begin_task(std::uint64_t states) noexcept {
    states_ = states;
    asked_for_measures_ = asked_for_history_ = false;
  }

  /// Returns the window's counts by `part`, shared by all tasks of the same states.
  const Aggregate& aggregate(const KeyPart& part);

  /// Returns the place of the measure's numbers in FlowWindow::measured.
  std::size_t measure(std::shared_ptr<const FlowMeasure> measure);

  /// Requests Task::bins() with parts of this length. Returns false if another length was requested before, or if
  /// windows are not of time.
  bool ask_for_bins(std::uint64_t bin_ns) noexcept;

  /// Returns a field, requesting its measure if it needs one.
  BoundField field(const FlowField& field);

  WindowLength window() const noexcept { return window_; }
  std::uint64_t bin_ns() const noexcept { return bin_ns_; }
  KeyFields fields() const noexcept { return fields_; }
  std::size_t keys() const noexcept { return keys_; }
  std::uint64_t seed() const noexcept { return seed_; }
  std::uint64_t states() const noexcept { return states_; }
  bool asked_for_measures() const noexcept { return asked_for_measures_; }  ///< by the current task
  bool asked_for_history() const noexcept { return asked_for_history_; }    ///< some go by earlier windows

  struct Asked {
    std::unique_ptr<Aggregate> aggregate;
    std::uint64_t states;
  };
  std::span<const Asked> aggregates() const noexcept { return aggregates_; }
  const std::shared_ptr<MeasureSet>& measures() const noexcept { return measures_; }
  std::uint64_t measures_of(std::size_t state) const noexcept;  ///< bit i: the i-th measure

 private:
  WindowLength window_;
  std::uint64_t bin_ns_ = 0;
  KeyFields fields_;
  std::size_t keys_;
  std::uint64_t seed_;
  std::uint64_t states_ = ~std::uint64_t{0};
  bool asked_for_measures_ = false, asked_for_history_ = false;
  std::vector<Asked> aggregates_;
  std::shared_ptr<MeasureSet> measures_ = std::make_shared<MeasureSet>();
  std::vector<std::uint64_t> measured_states_;  ///< states by measure
};

/// Task with its name for `--task`.
struct TaskEntry {
  std::string_view name;
  std::string_view help;
  std::string_view event;  ///< meaning of each of its events
  std::string_view error;  ///< accuracy of its events
  std::span<const Parameter> parameters;

  /// Makes the task; problems are noted in the arguments.
  std::unique_ptr<Task> (*make)(Arguments& arguments, TaskContext& context);

  bool finds_any = true;                  ///< false: it only writes summaries
  bool looks_at_flows = true;             ///< false: Task::unread() suffices
  Severity severity = Severity::warning;  ///< of its alarms
  bool has_floors = true;                 ///< false: traffic of any size raises its alarms
};

}  // namespace parshall
