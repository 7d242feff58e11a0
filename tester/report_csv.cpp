// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <iterator>

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

std::string report_csv(const TestReport& report) {
  std::string text = header();
  for (const FlowRow& row : report.rows) {
    const FlowKey& key = row.key;
    if (key.present()) {
      fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{}", row.stream, key.ip_version, key.protocol,
                     address_text(key.src_address()), key.src_port(), address_text(key.dst_address()), key.dst_port());
    } else {
      fmt::format_to(std::back_inserter(text), "{},,,,,,", row.stream);
    }
    each_value(row.result, row.rates, row.latency, report.confidence, [&](std::string_view, const ReportValue& value) {
      text += ',';
      std::visit([&](const auto& number) { append(text, number); }, value);
    });
    text += '\n';
  }
  return text;
}

}  // namespace parshall::tester
