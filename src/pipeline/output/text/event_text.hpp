// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "pipeline/output/text/report.hpp"

namespace parshall {

/// Returns the report's latest events, a line each, and the number of events of each task; empty without tasks.
std::string events_text(const Report& report);

/// Zone in which times are shown: UTC in files, the viewer's on a screen.
enum class TimeZone : std::uint8_t { utc, local };

/// Returns one event as text: the beginning of its window, then event_words().
std::string event_text(const Event& event, TimeZone zone = TimeZone::utc);

/// Returns one event as text without its time: task, key and values, the one that the task is about first.
std::string event_words(const Event& event);

}  // namespace parshall
