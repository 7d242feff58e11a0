// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/exporter.hpp"

namespace parshall {

void Exporter::observe_at(const ObservationPoint&) {}
void Exporter::begin_anew() {}
void Exporter::begin(std::span<const ColumnInfo>) {}
void Exporter::name_rows(RowNames) {}
void Exporter::records(std::span<const ReportFlow>) {}
std::vector<std::string> Exporter::left_out(std::span<const ColumnInfo>) const { return {}; }
void Exporter::event(const Event&) {}
void Exporter::recall(const WindowRecall&) {}
void Exporter::alarm(const Alarm&) {}
void Exporter::finish() {}
void Exporter::accounting(const ReportSummary&, const OutputSummary&) {}
FlushOutcome Exporter::flush() { return {}; }
std::uint64_t Exporter::memory_bytes(std::span<const ColumnInfo>) const { return 0; }
std::string Exporter::file() const { return {}; }

void FileExporter::begin_anew() { output_->begin_anew(); }

FlushOutcome FileExporter::flush() {
  output_->flush();
  return {.error = output_->error(),
          .trouble = output_->trouble(),
          .held = {},
          .not_sent = {},
          .unconfirmed = {},
          .lost = output_->take_lost(),
          .reader_gone = output_->reader_gone()};
}

void FileExporter::finish() {
  output_->flush();
  output_->finish();
}

std::string FileExporter::file() const { return output_->name(); }

}  // namespace parshall
