// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "compare/report/columns.hpp"
#include "pipeline/output/output.hpp"
#include "pipeline/output/text/report.hpp"

namespace parshall {

/// Returns the columns of all flows of a comparison.
std::vector<ColumnInfo> compared_columns();

/// The flows of a comparison as a table: a value for each of compared_columns().
class ComparedTable {
 public:
  ComparedTable(const Compared& compared, std::span<const ComparedFlow* const> flows)
      : compared_(compared), flows_(flows), columns_(compared_columns()) {}

  std::span<const ColumnInfo> columns() const noexcept { return columns_; }
  void visit(const std::function<void(const ReportFlow&)>& visitor) const;

  void write_csv(Output& output) const;
  std::optional<Error> write_parquet(Output& output) const;

 private:
  const Compared& compared_;
  std::span<const ComparedFlow* const> flows_;
  std::vector<ColumnInfo> columns_;
};

}  // namespace parshall
