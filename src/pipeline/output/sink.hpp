// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "pipeline/output/exporter.hpp"
#include "pipeline/output/output.hpp"
#include "pipeline/output/report.hpp"
#include "pipeline/output/top_flows.hpp"

namespace parshall {

/// Writes reports in one format.
class ReportSink {
 public:
  virtual ~ReportSink() = default;
  virtual void write(const Report& report, Output& output) = 0;
};

struct SinkOptions {
  bool several = false;  ///< more than one report will come (`--every`)
};

/// A format by the name `--format` knows it by.
struct SinkEntry {
  std::string_view name;
  std::string_view help;
  std::size_t default_top;        ///< flows shown unless `--top` is given; 0: all
  std::string_view default_sort;  ///< column sorted by unless `--sort` is given; "": as they come
  std::unique_ptr<ReportSink> (*make)(const SinkOptions&);
  std::unique_ptr<Exporter> (*make_exporter)(Output&);  ///< null: its flows come in reports only
};

/// Every format: one line each.
std::span<const SinkEntry> sink_registry() noexcept;

/// Formats that flows can be written in one by one, as their records end. `output` outlives it.
std::unique_ptr<Exporter> make_csv_exporter(Output& output);

std::unique_ptr<ReportSink> make_csv_sink(const SinkOptions& options);
std::unique_ptr<ReportSink> make_json_sink(const SinkOptions& options);
std::unique_ptr<ReportSink> make_text_sink(const SinkOptions& options);

/// Why a report with these columns cannot be sorted by that one.
std::optional<Error> sort_problem(std::span<const ColumnInfo> columns, const std::string& column);

/// The flows of `report` reduced to the first `top` (0: all) by `column` in falling order ("" keeps the order).
/// Column names are those of the CSV header. Fails on an unknown one.
/// `begun` has flows that the report does not, and was made for this column and number; null: none.
Result<Report> sorted(Report report, const std::string& column, std::size_t top,
                      std::shared_ptr<TopFlows> begun = nullptr);

/// The column that sorted() goes by, among the schema's. Error: there is none of that name.
Result<std::size_t> place_of(std::span<const ColumnInfo> columns, const std::string& column);

}  // namespace parshall
