// SPDX-License-Identifier: Apache-2.0
#include "app/live/recall_tail.hpp"

#include <algorithm>

#include "pipeline/output/text/event_text.hpp"

namespace parshall::live {

void RecallTail::recall(const WindowRecall& told) {
  const std::lock_guard lock(mutex_);
  auto task = std::ranges::find(by_task_, told.task, [](const auto& windows) { return windows.front().task; });
  if (task == by_task_.end()) task = by_task_.insert(task, std::deque<WindowRecall>());
  task->push_back(told);
  if (task->size() > kWindows) task->pop_front();
}

void RecallTail::event(const Event& event) {
  if (event.kind != EventKind::recall) return;
  const std::lock_guard lock(mutex_);
  auto latest = std::ranges::find(events_, event.task, &LatestEvent::task);
  if (latest == events_.end()) latest = events_.insert(latest, {.task = event.task, .window = 0, .text = {}});
  latest->window = event.window.number;
  latest->text = event_text(event);
}

std::vector<TaskRecall> RecallTail::tasks() const {
  const std::lock_guard lock(mutex_);
  std::vector<TaskRecall> tasks;
  for (const std::deque<WindowRecall>& windows : by_task_) {
    TaskRecall task{.task = windows.front().task,
                    .threshold = windows.front().threshold,
                    .recall = std::nullopt,
                    .at_least = std::nullopt};
    double sum = 0;
    std::size_t known = 0;
    for (const WindowRecall& window : windows) {
      task.flows_seen += window.flows_seen;
      task.flows_missed += window.flows_missed;
      task.packets_missed += window.window.totals.missed_packets;
      if (!window.recall) continue;
      sum += *window.recall;
      ++known;
      task.at_least = std::min(task.at_least.value_or(1), *window.at_least);
    }
    if (known != 0) task.recall = sum / static_cast<double>(known);
    const auto latest = std::ranges::find(events_, task.task, &LatestEvent::task);
    if (latest != events_.end() && latest->window >= windows.front().window.number) task.latest_event = latest->text;
    tasks.push_back(std::move(task));
  }
  return tasks;
}

}  // namespace parshall::live
