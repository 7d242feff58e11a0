// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "pipeline/output/alarms/alarm.hpp"

namespace parshall {

/// Returns the alarm as a JSON object in one line.
std::string alarm_json(const Alarm& alarm);

/// Returns the id as it is shown: 16 hexadecimal digits.
std::string alarm_id(const Alarm& alarm);

/// Returns ns since 1970 as "2026-11-27T21:48:09.000000001Z".
std::string iso_time(std::uint64_t ns);

}  // namespace parshall
