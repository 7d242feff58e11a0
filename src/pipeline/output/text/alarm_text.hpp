// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>

#include "pipeline/output/alarms/alarm.hpp"
#include "pipeline/output/text/event_text.hpp"

namespace parshall {

/// Returns the alarm in one line: its beginning, then alarm_words().
std::string alarm_text(const Alarm& alarm, TimeZone zone = TimeZone::utc);

/// Returns the alarm without its beginning: severity, task, key, peak and latest values, and how long it lasts.
std::string alarm_words(const Alarm& alarm);

/// Returns a table of at most `most` alarms, the most severe and latest last, with a heading; empty without alarms.
std::string alarms_text(const AlarmList& list, std::size_t most);

}  // namespace parshall
