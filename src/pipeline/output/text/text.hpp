// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "pipeline/output/queue/sink.hpp"

namespace parshall {

/// Makes a sink that writes a summary and the flows, aligned for reading.
std::unique_ptr<ReportSink> make_text_sink(const SinkOptions& options);

}  // namespace parshall
