// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/exporter.hpp"

namespace parshall {

void Exporter::observe_at(const ObservationPoint&) {}
void Exporter::begin_anew() {}
void Exporter::begin(std::span<const ColumnInfo>) {}
void Exporter::records(std::span<const ReportFlow>) {}
std::vector<std::string> Exporter::left_out(std::span<const ColumnInfo>) const { return {}; }
void Exporter::event(const Event&) {}
void Exporter::recall(const WindowRecall&) {}
void Exporter::accounting(const ReportSummary&, const OutputSummary&) {}
void Exporter::flush() {}
std::uint64_t Exporter::memory_bytes(std::span<const ColumnInfo>) const { return 0; }
void Exporter::finish() { flush(); }
OutputSummary::Sum Exporter::held() const noexcept { return {}; }
std::string Exporter::trouble() const { return {}; }
OutputSummary::Sum Exporter::take_not_sent() noexcept { return {}; }
OutputSummary::Sum Exporter::take_unconfirmed() noexcept { return {}; }
bool Exporter::take_lost() noexcept { return false; }
std::string Exporter::file() const { return {}; }

const std::optional<Error>& InnerExporter::error() const noexcept {
  static const std::optional<Error> kNone;
  return kNone;
}

void FileExporter::begin_anew() { output_->begin_anew(); }
void FileExporter::flush() { output_->flush(); }

void FileExporter::finish() {
  flush();
  output_->finish();
}

std::string FileExporter::trouble() const { return output_->trouble(); }
bool FileExporter::take_lost() noexcept { return output_->take_lost(); }
const std::optional<Error>& FileExporter::error() const noexcept { return output_->error(); }
std::string FileExporter::file() const { return output_->name(); }
bool FileExporter::reader_gone() const noexcept { return output_->reader_gone(); }

}  // namespace parshall
