// SPDX-License-Identifier: Apache-2.0
#include "compare/report/flow_table.hpp"

#include "pipeline/output/columnar.hpp"
#include "pipeline/output/files/csv.hpp"
#include "pipeline/output/parquet/file.hpp"

namespace parshall {

std::vector<ColumnInfo> compared_columns() {
  std::vector<ColumnInfo> columns;
  for (const auto& all : {flow_columns(), passed_columns()})
    for (const CompareColumn& column : all) columns.push_back(column.info);
  return columns;
}

void ComparedTable::visit(const std::function<void(const ReportFlow&)>& visitor) const {
  std::vector<Value> values;
  for (const ComparedFlow* const flow : flows_) {
    const ComparedRow row = compared_.row(*flow);
    values.clear();
    for (const auto& all : {flow_columns(), passed_columns()})
      for (const CompareColumn& column : all) values.push_back(column.read(row));
    visitor({.record = {}, .values = values});
  }
}

void ComparedTable::write_csv(Output& output) const {
  Report report;
  report.columns = columns_;
  report.flows = [this](const auto& visitor) { visit(visitor); };
  make_csv_sink({})->write(report, output);
}

std::optional<Error> ComparedTable::write_parquet(Output& output) const {
  constexpr int kLevel = 3;
  const auto file = ParquetFile::begin(output, columnar(columns_), kLevel);
  visit([&](const ReportFlow& flow) {
    for (std::size_t i = 0; i < flow.values.size(); ++i) file->column(i).add(flow.values[i]);
    file->end_row();
  });
  return file->finish({});
}

}  // namespace parshall
