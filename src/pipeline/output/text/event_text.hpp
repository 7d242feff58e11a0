// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "pipeline/output/text/report.hpp"

namespace parshall {

/// Returns the number of events of each task, alarms, and the latest events about all traffic; empty without tasks.
std::string events_text(const Report& report);

/// Zone in which times are shown: UTC in files, the viewer's on a screen.
enum class TimeZone : std::uint8_t { utc, local };

/// Returns a packet time with its date: 2026-11-27T21:48:09.500Z, or in local time.
std::string time_text(std::uint64_t ns, TimeZone zone);

/// Returns one event as text: the beginning of its window, then event_words().
std::string event_text(const Event& event, TimeZone zone = TimeZone::utc);

/// Returns one event as text without its time: task, key and values, the one that the task is about first.
std::string event_words(const Event& event);

}  // namespace parshall
