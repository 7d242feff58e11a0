// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "pipeline/output/report.hpp"

namespace parshall {

/// The report's latest events, a line each, and how many there were of each task; empty without tasks.
std::string events_text(const Report& report);

/// One event: window, task, key and values.
std::string event_text(const Event& event);

}  // namespace parshall
