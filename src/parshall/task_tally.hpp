// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/measure/tasks/registry.hpp"
#include "pipeline/output/exporter.hpp"

namespace parshall {

/// Counts what each task found, for readers while the run goes on. Any thread.
///
/// Shape:  one entry per task, each with the names of its numbers; keys of events are not kept.
class TaskTally final : public Exporter {
 public:
  struct Task {
    std::string name;
    std::uint64_t events = 0;
    std::uint64_t last_event_ns = 0;  ///< time of the last packet in the window of the latest event; 0: no event yet
    std::uint64_t keys_left_out = 0;  ///< keys left out for want of room, summed over windows
    std::vector<EventValue> values;   ///< values of the latest event about all traffic
    std::uint64_t flows_seen = 0, flows_missed = 0;  ///< in windows whose recall was reported
    std::optional<WindowRecall> latest;              ///< recall of the latest such window
  };

  explicit TaskTally(const TaskSets& tasks);

  void event(const Event& event) override;
  void recall(const WindowRecall& told) override;
  std::vector<Task> tasks() const;

 private:
  Task* find(const std::string& name) noexcept;

  mutable std::mutex mutex_;
  std::vector<Task> tasks_;
};

}  // namespace parshall
