// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pipeline/output/format.hpp"
#include "pipeline/output/put_value.hpp"
#include "pipeline/output/records/community_id.hpp"
#include "pipeline/output/text/event_text.hpp"
#include "pipeline/output/text/summary_text.hpp"
#include "pipeline/output/text/text_table.hpp"

namespace parshall {
namespace {

std::string endpoint(std::span<const std::uint8_t> address, std::uint16_t port) {
  const std::string text = address_text(address);
  if (port == 0) return text;
  return address.size() == 16 ? fmt::format("[{}]:{}", text, port) : fmt::format("{}:{}", text, port);
}

std::string value_text(const ColumnInfo& column, const Value& value) {
  if (!value.present()) return "-";
  switch (column.type.value) {
    case ValueType::real: {
      const double number = value.as_real();
      return number == std::floor(number) && std::fabs(number) < 1e15 ? fmt::format("{:.0f}", number)
                                                                      : fmt::format("{:.6g}", number);
    }
    case ValueType::flags:
      return tcp_flags_text(static_cast<std::uint32_t>(value.as_unsigned()));
    case ValueType::enumeration:
      return column.name_of(value);
    case ValueType::address:
      return address_text(value.as_address());
    case ValueType::community_id:
      return community_id_text(value.as_digest());
    case ValueType::text:
      return shown_text(column, value.as_text());
    case ValueType::boolean:
      return std::string(bool_text(value.as_bool()));
    case ValueType::signed_integer:
      return fmt::to_string(value.as_signed());
    case ValueType::unsigned_integer:
    case ValueType::time:
      break;
  }
  return fmt::to_string(value.as_unsigned());
}

/// Returns whether a column is shown of flows whose key has its own columns. Nanoseconds since 1970 are unreadable.
bool is_shown(const ColumnInfo& column) noexcept {
  return column.role == ColumnRole::count || column.role == ColumnRole::asked;
}

/// Adds protocol, source and destination, for columns that begin as usual.
void put_key(const ReportFlow& flow, std::vector<std::string>& row) {
  constexpr std::size_t kProtocol = 1, kSource = 2, kDestination = 4;
  const FlowKey& key = flow.record.key;
  const auto text_of = [&flow](std::size_t column, auto text) { return flow.values[column].present() ? text() : "-"; };
  row.push_back(text_of(kProtocol, [&] { return protocol_text(key.protocol); }));
  row.push_back(text_of(kSource, [&] { return endpoint(key.src_address(), key.src_port()); }));
  row.push_back(text_of(kDestination, [&] { return endpoint(key.dst_address(), key.dst_port()); }));
}

/// Returns the columns to show, in order. Names of flows follow the addresses of a key with its own columns.
std::vector<std::size_t> shown_columns(std::span<const ColumnInfo> columns, bool joins_key) {
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (!joins_key || is_shown(columns[i])) shown.push_back(i);
  if (joins_key)
    std::stable_partition(shown.begin(), shown.end(), [&](std::size_t i) { return columns[i].type == kText; });
  return shown;
}

/// Adds the rows of a report to `output`. Returns false if lines could not be read back.
bool put_flows(const Report& report, Output& output) {
  const bool joins_key = begins_as_usual(report.columns);
  const std::vector<std::size_t> shown = shown_columns(report.columns, joins_key);
  std::vector<std::string> row;
  if (joins_key) row = {"proto", "source", "destination"};
  std::size_t left = row.size();
  for (const std::size_t i : shown) {
    left += joins_key && report.columns[i].type == kText;
    row.push_back(report.columns[i].name);
  }
  TextTable table(row, left, output);
  report.flows([&](const ReportFlow& flow) {
    row.clear();
    if (joins_key) put_key(flow, row);
    for (const std::size_t i : shown) row.push_back(value_text(report.columns[i], flow.values[i]));
    table.add(row);
  });
  return table.finish();
}

std::string group_value_text(const ColumnInfo& column, const Value& value) {
  if (value.present() && column.name == "protocol")
    return protocol_text(static_cast<std::uint8_t>(value.as_unsigned()));
  if (value.present() && column.unit == "bit/s") return scaled_text(value.as_real());
  return value_text(column, value);
}

/// Does the same for groups of flows, such as hosts.
bool put_groups(const Report& report, Output& output) {
  const auto is_shown = [](const ColumnInfo& column) { return column.role != ColumnRole::time; };
  std::vector<std::string> row;
  std::size_t left = 0;
  for (const ColumnInfo& column : report.columns) {
    if (is_shown(column)) row.push_back(column.name);
    left += column.role == ColumnRole::key;
  }
  TextTable table(row, left, output);
  report.flows([&](const ReportFlow& group) {
    row.clear();
    for (std::size_t i = 0; i < report.columns.size(); ++i)
      if (is_shown(report.columns[i])) row.push_back(group_value_text(report.columns[i], group.values[i]));
    table.add(row);
  });
  return table.finish();
}

/// Writes a summary and the top flows or groups, aligned for reading.
class TextSink final : public ReportSink {
 public:
  void write(const Report& report, Output& output) override {
    output.write(summary_text(report.summary));
    output.write(events_text(report));
    const bool is_whole = (report.are_groups() ? put_groups : put_flows)(report, output);
    if (!is_whole) output.write("this report is incomplete: lines could not be read back from a temporary file\n");
    output.flush();
  }
};

}  // namespace

std::unique_ptr<ReportSink> make_text_sink(const SinkOptions&) { return std::make_unique<TextSink>(); }

}  // namespace parshall
