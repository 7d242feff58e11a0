// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/output/exporter.hpp"

namespace parshall::live {

/// Recall of a task in its latest windows.
struct TaskRecall {
  std::string task;
  double threshold = 0;
  std::optional<double> recall, at_least;  ///< mean of the estimates, least of the bounds, where known
  std::uint64_t flows_seen = 0, flows_missed = 0;
  std::uint64_t packets_missed = 0;  ///< missed by the device
  std::string latest_event;          ///< what it missed last in these windows, as a sentence; empty: nothing
};

/// Keeps the latest windows of each task, and the latest event about its recall. Any thread.
class RecallTail final : public Exporter {
 public:
  static constexpr std::size_t kWindows = 10;  ///< numbers of a single window vary too much to be read

  void recall(const WindowRecall& told) override;
  void event(const Event& event) override;
  std::vector<TaskRecall> tasks() const;  ///< in the order of their first report

 private:
  mutable std::mutex mutex_;
  struct LatestEvent {
    std::string task;
    std::uint64_t window;
    std::string text;
  };
  std::vector<std::deque<WindowRecall>> by_task_;
  std::vector<LatestEvent> events_;  ///< one per task
};

}  // namespace parshall::live
