// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/arrow/arrow.hpp"

#include <fmt/format.h>

#include <vector>

#include "base/host_name.hpp"
#include "pipeline/output/arrow/column.hpp"
#include "pipeline/output/arrow/messages.hpp"
#include "pipeline/output/columnar.hpp"
#include "pipeline/output/records/account_columns.hpp"

namespace parshall {
namespace {

class ArrowExporter final : public FileExporter {
 public:
  using FileExporter::FileExporter;

  void begin(std::span<const ColumnInfo> columns) override {
    own_ = columnar(columns);
    columns_.reserve(own_.size());
    for (const ColumnInfo& column : own_) columns_.emplace_back(column);
    std::string beginning(arrow_schema(own_, {}));
    for (std::size_t i = 0; i < own_.size(); ++i)
      if (own_[i].type.value == ValueType::enumeration)
        beginning += arrow_dictionary(static_cast<std::int64_t>(i), own_[i].values);
    output().begin_with(std::move(beginning));
  }

  void records(std::span<const ReportFlow> batch) override {
    for (std::size_t i = 0; i < columns_.size(); ++i) columns_[i].add(batch, i);
    unflushed_ += batch.size();
    rows_ += static_cast<std::int64_t>(batch.size());
    if (rows_ >= kRows) write_batch();
  }

  /// A batch exists as columns, as a body and as a message, in buffers that may be twice as large as needed.
  std::uint64_t memory_bytes(std::span<const ColumnInfo> columns) const override {
    constexpr std::uint64_t kCopies = 3, kRoom = 2;
    std::uint64_t row = 0;
    for (const ColumnInfo& column : columns) row += ArrowColumn::value_bytes(column);
    return kCopies * kRoom * kRows * row;
  }

  FlushOutcome flush() override {
    if (rows_ != 0) write_batch();
    FlushOutcome outcome = FileExporter::flush();
    if (!outcome.lost) records_ += unflushed_;
    unflushed_ = 0;
    return outcome;
  }

  void finish() override {
    if (rows_ != 0) write_batch();  // before the errors that only closing shows are looked for
    FileExporter::finish();
  }

  void accounting(const ReportSummary& summary, const OutputSummary& own) override {
    if (columns_.empty()) return;  // no record ever came
    ArrowMetadata metadata;
    for (const auto& [info, value] : account_columns(summary, own, {host_name(), {}, records_}))
      if (value.present() && value.type() != ValueType::enumeration)
        metadata.emplace_back("parshall." + info.name, fmt::to_string(value.as_unsigned()));
    write_batch(metadata);
    output().write(arrow_end());
  }

 private:
  static constexpr std::int64_t kRows = 65536;  ///< per batch, or more if more come at once

  void write_batch(const ArrowMetadata& metadata = {}) {
    ArrowBody body{.rows = rows_, .nodes = {}, .buffers = {}, .bytes = {}};
    for (ArrowColumn& column : columns_) column.move_to(body);
    output().write(arrow_batch(body, metadata));
    rows_ = 0;
  }

  std::vector<ColumnInfo> own_;
  std::vector<ArrowColumn> columns_;
  std::int64_t rows_ = 0;  ///< rows in the current batch
  std::uint64_t records_ = 0, unflushed_ = 0;
};

}  // namespace

std::unique_ptr<Exporter> make_arrow_exporter(std::unique_ptr<Output> output) {
  return std::make_unique<ArrowExporter>(std::move(output));
}

}  // namespace parshall
