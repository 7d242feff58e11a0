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

/// Counts what each task found, for who asks while the run goes on. Any thread.
///
/// Shape: as many tasks as there are, each with the names of its numbers; no key of an event is kept.
class TaskTally final : public InnerExporter {
 public:
  struct Task {
    std::string name;
    std::uint64_t events = 0;
    std::uint64_t last_event_ns = 0;  ///< time of the last packet of that event's window; 0: there was none
    std::uint64_t keys_left_out = 0;  ///< for want of room, window by window
    std::vector<EventValue> values;   ///< of its last event about all traffic
    std::uint64_t flows_seen = 0, flows_missed = 0;  ///< of windows that are told of
    std::optional<WindowRecall> latest;              ///< of these the latest
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
