// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <span>
#include <string>

#include "app/live/recall_tail.hpp"
#include "app/live/table.hpp"

namespace parshall::web {

/// Rates over the interval that ended at `at_s`, by the clock.
struct Moment {
  double at_s = 0;  ///< seconds since the start
  double pps = 0, bps = 0, lost_pps = 0;
};

Moment moment_of(double at_s, double seconds, const Accounting& before, const Accounting& after);

/// Results of tasks, to show beside a report.
struct TaskResults {
  std::vector<Event> events;        ///< the latest about all traffic, newest last
  std::optional<AlarmList> alarms;  ///< unset: no tasks run
  std::vector<live::TaskRecall> recalls;
};

/// Formats the state as one JSON object in one line, as docs/web.md describes.
/// `groups` has the views of groups, such as hosts.
std::string state_json(const live::View& view, std::span<const live::View> groups, const Moment& now,
                       const TaskResults& tasks);

/// Formats one JSON array in one line, of [at_s, pps, bps, lost_pps].
std::string history_json(const std::deque<Moment>& moments);

}  // namespace parshall::web
