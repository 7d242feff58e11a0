// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "tester/report_values.hpp"
#include "tester/report_writers.hpp"

namespace parshall::tester {
namespace {

void append(std::string& line, std::uint64_t value) { fmt::format_to(std::back_inserter(line), "{}", value); }
void append(std::string& line, double value) { fmt::format_to(std::back_inserter(line), "{:.10g}", value); }
template <class T>
void append(std::string& line, const std::optional<T>& value) {
  if (value) append(line, *value);
}

std::string header() {
  std::string line = "stream,ip_version,protocol,src_ip,src_port,dst_ip,dst_port";
  each_value({}, {}, {}, Confidence::percent_95, [&](std::string_view name, const ReportValue&) {
    line += ',';
    line += name;
  });
  return line + '\n';
}

}  // namespace

void write_csv(std::FILE* to, const TestReport& report) {
  const std::string names = header();
  std::fwrite(names.data(), 1, names.size(), to);
  std::string line;
  for (const FlowRow& row : report.rows) {
    const FlowKey& key = row.key;
    line.clear();
    if (key.present()) {
      fmt::format_to(std::back_inserter(line), "{},{},{},{},{},{},{}", row.stream, key.ip_version, key.protocol,
                     address_text(key.src_address()), key.src_port(), address_text(key.dst_address()), key.dst_port());
    } else {
      fmt::format_to(std::back_inserter(line), "{},,,,,,", row.stream);
    }
    each_value(row.result, row.rates, row.latency, report.confidence, [&](std::string_view, const ReportValue& value) {
      line += ',';
      std::visit([&](const auto& number) { append(line, number); }, value);
    });
    line += '\n';
    std::fwrite(line.data(), 1, line.size(), to);
  }
}

}  // namespace parshall::tester
