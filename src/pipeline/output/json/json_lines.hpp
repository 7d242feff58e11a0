// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "pipeline/output/exporter.hpp"
#include "pipeline/output/queue/sink.hpp"

namespace parshall {

/// Writes one object a line, as data comes: {"flow": {...}}, {"event": {...}}, {"alarm": {...}}, and {"summary": {...}}
/// at the end.
std::unique_ptr<Exporter> make_json_lines_exporter(std::unique_ptr<Output> output);
std::unique_ptr<ReportSink> make_json_lines_sink(const SinkOptions& options);

/// Writes findings of tasks, one object a line.
std::unique_ptr<Exporter> make_events_exporter(std::unique_ptr<Output> output);

/// Writes alarms that began or ended, one object a line.
std::unique_ptr<Exporter> make_alarms_exporter(std::unique_ptr<Output> output);

}  // namespace parshall
