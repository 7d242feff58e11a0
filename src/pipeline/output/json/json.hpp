// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "pipeline/output/queue/sink.hpp"

namespace parshall {

/// Writes one document, `{"summary": {...}, "flows": [...], "events": [...]}`. With several reports, each is one line.
std::unique_ptr<ReportSink> make_json_sink(const SinkOptions& options);

}  // namespace parshall
