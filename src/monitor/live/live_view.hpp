// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "monitor/live/recall_tail.hpp"
#include "monitor/live/watched.hpp"

namespace parshall::live {

struct LiveOptions {
  Schema own;  ///< the columns asked for at the start
  StatisticOptions statistics;
  bool packets_only = false;                         ///< the run keeps no flows
  bool has_states = false;                           ///< flows have monitoring states
  bool marks = false;                                ///< packets go on, marked by class
  std::function<bool()> leave;                       ///< asked some 20 times a second: true closes the view
  std::function<std::vector<std::string>()> events;  ///< the latest that tasks found, the newest last; may be empty
  std::function<std::vector<TaskRecall>()> recalls;  ///< of late; may be empty
};

struct LiveOutcome {
  std::optional<Report> final_report;  ///< where the run ended by itself while it was watched
  bool other_columns = false;          ///< than at the start
  double chosen_s = 0;                 ///< since when they have been counted
};

/// Shows a running session on the terminal until the user leaves it or `leave` says so. The run goes on: the caller
/// stops it. Fails where the terminal cannot be used; then nothing was drawn.
Result<LiveOutcome> watch_live(Watched& watched, const LiveOptions& options);

}  // namespace parshall::live
