// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <span>
#include <string>

#include "monitor/live/recall_tail.hpp"
#include "monitor/live/table.hpp"

namespace parshall::web {

/// What came in the time up to `at_s`, by the clock.
struct Moment {
  double at_s = 0;  ///< since the start
  double pps = 0, bps = 0, lost_pps = 0;
};

Moment moment_of(double at_s, double seconds, const Accounting& before, const Accounting& after);

/// One JSON object in one line: what docs/web.md says.
std::string state_json(const live::View& view, const Moment& now, std::span<const Event> events,
                       std::span<const live::TaskRecall> recalls);

/// One JSON array in one line, of [at_s, pps, bps, lost_pps].
std::string history_json(const std::deque<Moment>& moments);

}  // namespace parshall::web
