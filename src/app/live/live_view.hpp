// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/live/recall_tail.hpp"
#include "app/live/state.hpp"
#include "app/live/watched.hpp"

namespace parshall::live {

struct LiveOptions {
  Schema own;  ///< the columns asked for at the start
  StatisticOptions statistics;
  Networks local;
  RowChoice rows = {};
  bool own_columns = false;     ///< the user named columns
  bool packets_only = false;    ///< the run keeps no flows
  bool has_states = false;      ///< flows have monitoring states
  bool marks = false;           ///< true: packets are forwarded, marked by class
  std::function<bool()> leave;  ///< called about 20 times a second; true closes the view
  /// Returns the latest alarms of these groups, or alarms and figures of all traffic, newest last. May be empty.
  std::function<std::vector<std::string>(const std::vector<Opened>&)> events;
  std::function<std::vector<TaskRecall>()> recalls;  ///< returns the latest recalls; may be empty
};

struct LiveOutcome {
  std::optional<Report> final_report;  ///< set if the run ended by itself while the view was open
  bool other_columns = false;          ///< true: the columns differ from those at the start
  double chosen_s = 0;                 ///< time since which they have been counted
};

/// Shows a running session on the terminal until the user quits or `leave` returns true. The run continues; the caller
/// stops it. Error: the terminal cannot be used; nothing was drawn then.
Result<LiveOutcome> watch_live(Watched& watched, const LiveOptions& options);

}  // namespace parshall::live
