// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "pipeline/output/text/report.hpp"

namespace parshall {

/// Returns the report's latest events, a line each, and the number of events of each task; empty without tasks.
std::string events_text(const Report& report);

/// Returns one event as text: window, task, key and values.
std::string event_text(const Event& event);

}  // namespace parshall
