// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/put_value.hpp"
#include "pipeline/output/sink.hpp"

namespace parshall {
namespace {

/// One line per flow. With several reports, an empty line parts them and each begins with the header.
class CsvSink final : public ReportSink {
 public:
  void write(const Report& report, Output& output) override {
    if (written_) output.write("\n");
    written_ = true;
    std::size_t longest = 0;
    for (const ColumnInfo& column : report.columns) {
      if (longest != 0) output.write(",");
      output.write(column.name);
      longest += 1 + longest_value(column);
    }
    output.write("\n");
    report.flows([&output, longest, columns = report.columns](const ReportFlow& flow) {
      char* at = output.reserve(longest);
      const Value* value = flow.values.data();
      for (const ColumnInfo& column : columns) {
        if (value->present()) at = put_value(at, column, *value);
        *at++ = ',';
        ++value;
      }
      at[-1] = '\n';
      output.commit(at);
    });
    output.flush();
  }

 private:
  bool written_ = false;
};

}  // namespace

std::unique_ptr<ReportSink> make_csv_sink(const SinkOptions&) { return std::make_unique<CsvSink>(); }

}  // namespace parshall
