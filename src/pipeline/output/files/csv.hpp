// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "pipeline/output/exporter.hpp"
#include "pipeline/output/queue/sink.hpp"

namespace parshall {

/// Writes a header, then one line per flow.
std::unique_ptr<Exporter> make_csv_exporter(std::unique_ptr<Output> output);
std::unique_ptr<ReportSink> make_csv_sink(const SinkOptions& options);

}  // namespace parshall
