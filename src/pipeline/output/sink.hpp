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
#include "pipeline/output/flow_order.hpp"
#include "pipeline/output/output.hpp"
#include "pipeline/output/report.hpp"

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
  std::uint64_t memory_bytes;     ///< of a report while it is written, at most
  std::unique_ptr<ReportSink> (*make)(const SinkOptions&);
};

/// Every format: one line each.
std::span<const SinkEntry> sink_registry() noexcept;

/// Why a report with these columns cannot be sorted by that one.
std::optional<Error> sort_problem(std::span<const ColumnInfo> columns, const std::string& column);

/// The flows of `report` reduced to the first `top` (0: all) by `column` in falling order ("" keeps the order), when
/// they are visited. Column names are those of the CSV header. Fails on an unknown one. `problem` is set then, where
/// the order is not what was asked for, or flows are missing.
Result<Report> sorted(Report report, const std::string& column, std::size_t top,
                      std::optional<Error>* problem = nullptr);

/// What that takes at most.
std::uint64_t sorting_bytes(std::span<const ColumnInfo> columns, const std::string& column, std::size_t top) noexcept;

/// The column that sorted() goes by, among the schema's. Error: there is none of that name.
Result<FlowOrder> order_by(std::span<const ColumnInfo> columns, const std::string& column);

}  // namespace parshall
