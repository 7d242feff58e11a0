// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "pipeline/output/output.hpp"
#include "pipeline/output/records/flow_order.hpp"
#include "pipeline/output/text/report.hpp"

namespace parshall {

/// Writes reports in one format.
class ReportSink {
 public:
  virtual ~ReportSink() = default;
  virtual void write(const Report& report, Output& output) = 0;
};

struct SinkOptions {
  bool several = false;  ///< true if more than one report will come (`--every`)
};

/// Report format with its name for `--format`.
struct SinkEntry {
  std::string_view name;
  std::string_view help;
  std::size_t default_top;        ///< flows shown unless `--top` is given; 0: all
  std::string_view default_sort;  ///< sort column unless `--sort` is given; "": in order of arrival
  std::uint64_t memory_bytes;     ///< most memory that a report takes while it is written
  std::unique_ptr<ReportSink> (*make)(const SinkOptions&);
};

/// Returns all formats, one line each.
std::span<const SinkEntry> sink_registry() noexcept;

/// Returns why a report with these columns cannot be sorted by `column`, if so.
std::optional<Error> sort_problem(std::span<const ColumnInfo> columns, const std::string& column);

/// Returns `report` with its flows reduced, when visited, to the first `top` (0: all) by `column` in falling order (""
/// keeps the order). Column names are those of the CSV header; an unknown one is an error. `problem` is set on a visit
/// if the order is wrong or flows are missing.
Result<Report> sorted(Report report, const std::string& column, std::size_t top,
                      std::optional<Error>* problem = nullptr);

/// Returns the most memory that sorted() takes.
std::uint64_t sorting_bytes(std::span<const ColumnInfo> columns, const std::string& column, std::size_t top) noexcept;

/// Returns the order that sorted() uses. An unknown column is an error.
Result<FlowOrder> order_by(std::span<const ColumnInfo> columns, const std::string& column);

}  // namespace parshall
