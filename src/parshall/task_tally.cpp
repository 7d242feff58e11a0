// SPDX-License-Identifier: Apache-2.0
#include "parshall/task_tally.hpp"

#include <algorithm>

namespace parshall {
namespace {

std::uint64_t keys_left_out(const Event& event) noexcept {
  if (event.values.empty() || event.values.front().name != kKeysLeftOut) return 0;
  const auto* const keys = std::get_if<std::uint64_t>(&event.values.front().value);
  return keys == nullptr ? 0 : *keys;
}

}  // namespace

TaskTally::TaskTally(const TaskSets& tasks) {
  for (const TaskSet& set : tasks.sets())
    for (const TaskSet::Member& task : set.members())
      tasks_.push_back({.name = task.name, .values = {}, .latest = std::nullopt});
}

TaskTally::Task* TaskTally::find(const std::string& name) noexcept {
  const auto task = std::ranges::find(tasks_, name, &Task::name);
  return task == tasks_.end() ? nullptr : &*task;
}

void TaskTally::event(const Event& event) {
  const std::lock_guard lock(mutex_);
  Task* const task = find(event.task);
  if (task == nullptr) return;
  ++task->events;
  task->last_event_ns = event.window.totals.last_ns;
  if (event.part != nullptr) return;
  if (const std::uint64_t left_out = keys_left_out(event); left_out != 0)
    task->keys_left_out += left_out;
  else
    task->values = event.values;
}

void TaskTally::recall(const WindowRecall& told) {
  const std::lock_guard lock(mutex_);
  Task* const task = find(told.task);
  if (task == nullptr) return;
  task->flows_seen += told.flows_seen;
  task->flows_missed += told.flows_missed;
  task->latest = told;
}

std::vector<TaskTally::Task> TaskTally::tasks() const {
  const std::lock_guard lock(mutex_);
  return tasks_;
}

}  // namespace parshall
