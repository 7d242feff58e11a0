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

/// How much a task found in its latest windows.
struct TaskRecall {
  std::string task;
  double threshold = 0;
  std::optional<double> recall, at_least;  ///< mean of the estimates; least of the bounds. Of the windows that tell
  std::uint64_t flows_seen = 0, flows_missed = 0;
  std::uint64_t packets_missed = 0;  ///< by the device
};

/// The latest windows of each task. Any thread.
class RecallTail final : public InnerExporter {
 public:
  static constexpr std::size_t kWindows = 10;  ///< of one alone the numbers jump too much to be read

  void recall(const WindowRecall& told) override;
  std::vector<TaskRecall> tasks() const;  ///< in the order in which they were first told of

 private:
  mutable std::mutex mutex_;
  std::vector<std::deque<WindowRecall>> by_task_;
};

}  // namespace parshall::live
