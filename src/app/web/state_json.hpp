// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "app/live/recall_tail.hpp"
#include "app/live/rows.hpp"
#include "app/live/state.hpp"
#include "base/result.hpp"

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

/// Bit rate of one protocol, service or direction, mean over the usual window.
struct Share {
  std::string name;
  double bps = 0;
};
/// The largest of them, and the rate of all packets, among them those of flows that have ended.
struct Shares {
  std::string of;  ///< such as "protocols"
  double bps = 0;
  std::vector<Share> largest;
};

/// Formats what all clients get of a state: members of a JSON object, as docs/web.md describes.
std::string common_json(const live::Rows& flows, const Moment& now, const TaskResults& tasks,
                        std::span<const Shares> shares, const live::RowChoice& choice);

/// Formats alarms, as a member of a state.
std::string alarms_json(const std::optional<AlarmList>& list);

/// Formats the rows that one client wants, as a JSON object.
std::string rows_json(const live::View& view);
/// Formats why there are none.
std::string rows_json(const Error& problem);

/// Formats one JSON array in one line, of [at_s, pps, bps, lost_pps].
std::string history_json(const std::deque<Moment>& moments);

}  // namespace parshall::web
