// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "pipeline/measure/tasks/task.hpp"
#include "pipeline/measure/windows/window_rows.hpp"

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
};

/// Tasks of windows of one length.
class TaskSet {
 public:
  struct Member {
    std::string name;
    std::size_t most;  ///< events a window
    std::unique_ptr<Task> task;
    std::uint64_t events = 0, dropped = 0;
  };

  TaskSet(WindowLength window, const TaskOptions& options)
      : window_(window), context_(options.fields, options.keys, options.seed) {}

  WindowLength window() const noexcept { return window_; }
  const MeasureSet& measures() const noexcept { return *context_.measures(); }
  std::span<const Member> members() const noexcept { return members_; }
  std::size_t memory_bytes() const noexcept;

  void flows(std::span<const FlowWindow> flows);
  void end(const EventWindow& window, const EventWriter::Take& take);

 private:
  friend class TaskSets;

  WindowLength window_;
  TaskContext context_;
  std::vector<Member> members_;
};

/// All tasks of a run: a set for each length of windows.
class TaskSets {
 public:
  /// Each spec is NAME[:parameter=value,...], NAME=CONDITION or NAME:parameter=value,...:CONDITION. Fails on what it does not understand, and where two
  /// tasks have one name. Throws std::bad_alloc.
  static Result<TaskSets> make(std::span<const std::string> specs, const TaskOptions& options);

  std::span<TaskSet> sets() noexcept { return sets_; }
  std::span<const TaskSet> sets() const noexcept { return sets_; }
  std::vector<WindowPlan> windows() const;
  std::vector<FindingNeeds> findings() const;  ///< by monitoring state
  std::size_t memory_bytes() const noexcept;

 private:
  std::optional<Error> add(const std::string& text, const TaskOptions& options);
  TaskSet& set_of(WindowLength window, const TaskOptions& options);

  std::vector<TaskSet> sets_;
};

/// "100ms" or "2Mp": a time, or packets.
Result<WindowLength> parse_window(const std::string& text);

}  // namespace parshall
