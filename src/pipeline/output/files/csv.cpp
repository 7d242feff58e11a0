// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/files/csv.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "pipeline/output/put_value.hpp"

namespace parshall {
namespace {

/// Writes a text, in quotes if it has a comma, a quote or a space at an end (RFC 4180). Needs 2 * kMostText + 2 bytes.
char* put_quoted(char* out, std::string_view text) noexcept {
  const bool is_plain = text.find_first_of(",\"") == text.npos && !text.starts_with(' ') && !text.ends_with(' ');
  if (is_plain) return std::ranges::copy(text, out).out;
  *out++ = '"';
  for (const char each : text) {
    if (each == '"') *out++ = '"';
    *out++ = each;
  }
  *out++ = '"';
  return out;
}

/// Writes the lines below one header.
class Lines {
 public:
  explicit Lines(std::span<const ColumnInfo> columns) : columns_(columns) {
    for (const ColumnInfo& column : columns_)
      longest_ += 1 + (column.type == kText ? 2 * kMostText + 2 : longest_value(column));
  }

  std::string header() const {
    std::string header;
    for (const ColumnInfo& column : columns_) header.append(header.empty() ? "" : ",").append(column.text_name());
    return header + "\n";
  }

  void put(const ReportFlow& flow, Output& output) const {
    char* at = output.reserve(longest_);
    const Value* value = flow.values.data();
    for (const ColumnInfo& column : columns_) {
      if (value->present())
        at = column.type == kText ? put_quoted(at, value->as_text()) : put_value(at, column, *value);
      *at++ = ',';
      ++value;
    }
    at[-1] = '\n';
    output.commit(at);
  }

 private:
  std::span<const ColumnInfo> columns_;
  std::size_t longest_ = 0;
};

/// Writes one line per flow. Several reports are separated by an empty line, and each begins with the header.
class CsvSink final : public ReportSink {
 public:
  void write(const Report& report, Output& output) override {
    if (written_) output.write("\n");
    written_ = true;
    const Lines lines(report.columns);
    output.write(lines.header());
    report.flows([&](const ReportFlow& flow) { lines.put(flow, output); });
    output.flush();
  }

 private:
  bool written_ = false;
};

class CsvExporter final : public FileExporter {
 public:
  using FileExporter::FileExporter;

  void begin(std::span<const ColumnInfo> columns) override {
    lines_.emplace(columns);
    output().begin_with(lines_->header());
  }
  void records(std::span<const ReportFlow> batch) override {
    for (const ReportFlow& flow : batch) lines_->put(flow, output());
  }

 private:
  std::optional<Lines> lines_;
};

}  // namespace

std::unique_ptr<ReportSink> make_csv_sink(const SinkOptions&) { return std::make_unique<CsvSink>(); }

std::unique_ptr<Exporter> make_csv_exporter(std::unique_ptr<Output> output) {
  return std::make_unique<CsvExporter>(std::move(output));
}

}  // namespace parshall
