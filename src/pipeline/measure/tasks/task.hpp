// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/measure/tasks/aggregate.hpp"
#include "pipeline/measure/tasks/arguments.hpp"
#include "pipeline/measure/tasks/event.hpp"
#include "pipeline/measure/tasks/fields.hpp"
#include "pipeline/measure/windows/flow_measure.hpp"

namespace parshall {

/// A question asked of the flows of each window. Called by one thread, not the workers': a window at a time, in order,
/// with what all workers' flows did in it.
class Task {
 public:
  virtual ~Task() = default;

  /// Some of the window's flows, of the states that the task is in. Tasks that go by an Aggregate need not look at
  /// them.
  virtual void flows(std::span<const FlowWindow>) {}

  /// What flows of its states did that it does not look at: together, of one worker and state. Of a task that looks at
  /// flows, those that gave way.
  virtual void unread(const UnreadFlows&) {}

  /// What the whole link carried in parts of the window, from the first-th on; of one worker, so to be added up. Only
  /// where TaskContext::ask_for_bins() was called.
  virtual void bins(std::size_t /*first*/, std::span<const LinkBin>) {}

  /// Whether it looks for keys of which heavy flows make nearly all, so that light ones may give way.
  virtual bool finds_heavy() const noexcept { return false; }

  /// Whether it asks of single flows what they did in the whole window.
  virtual bool judges_flows() const noexcept { return false; }

  /// Whether what it finds goes by shares of the traffic, which losses leave as they are.
  virtual bool finds_shares() const noexcept { return false; }

  /// The window is over: writes what there is to say, and forgets it.
  virtual void end(EventWriter& events) = 0;

  /// At most, of its own: aggregates are shared.
  virtual std::size_t memory_bytes() const noexcept { return 0; }
};

/// What tasks of windows of one length have in common.
class TaskContext {
 public:
  /// `keys`: of each aggregate and task, at most.
  TaskContext(WindowLength window, KeyFields fields, std::size_t keys, std::uint64_t seed)
      : window_(window), fields_(fields), keys_(keys), seed_(seed) {}

  /// From now on what is asked for is for a task of flows in these states: bit i stands for state i.
  void begin_task(std::uint64_t states) noexcept {
    states_ = states;
    asked_for_measures_ = asked_for_history_ = false;
  }

  /// The window's counts by `part`, one for all tasks of the same states that ask.
  const Aggregate& aggregate(const KeyPart& part);

  /// The place of the measure's numbers in FlowWindow::measured.
  std::size_t measure(std::shared_ptr<const FlowMeasure> measure);

  /// Task::bins() of parts of this length; false where another length has been asked for, or windows are not of time.
  bool ask_for_bins(std::uint64_t bin_ns) noexcept;

  /// A number of each flow, kept where it is asked for.
  BoundField field(const FlowField& field);

  WindowLength window() const noexcept { return window_; }
  std::uint64_t bin_ns() const noexcept { return bin_ns_; }
  KeyFields fields() const noexcept { return fields_; }
  std::size_t keys() const noexcept { return keys_; }
  std::uint64_t seed() const noexcept { return seed_; }
  std::uint64_t states() const noexcept { return states_; }
  bool asked_for_measures() const noexcept { return asked_for_measures_; }  ///< for the task
  bool asked_for_history() const noexcept { return asked_for_history_; }    ///< of them, such as go by windows before

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
  std::vector<std::uint64_t> measured_states_;  ///< by measure
};

/// A task by the name `--task` knows it by.
struct TaskEntry {
  std::string_view name;
  std::string_view help;
  std::string_view event;  ///< what each of its events says
  std::string_view error;  ///< how right that is
  std::span<const Parameter> parameters;

  /// Problems are noted in the arguments.
  std::unique_ptr<Task> (*make)(Arguments& arguments, TaskContext& context);

  bool finds_any = true;       ///< false: it writes summaries alone
  bool looks_at_flows = true;  ///< false: Task::unread() is enough
};

}  // namespace parshall
