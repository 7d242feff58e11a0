// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/parse.hpp"
#include "pipeline/output/output_summary.hpp"
#include "verify/exported_file.hpp"

namespace parshall {
namespace {

using nlohmann::json;

std::uint64_t number(const json& object, const char* name) {
  const auto at = object.find(name);
  if (at == object.end()) return 0;
  if (at->is_string()) return parse_count(at->get<std::string>()).value_or(0);  // --integers text
  return at->is_number_unsigned() ? at->get<std::uint64_t>() : 0;
}

/// Returns the account of the output whose written amounts match the file; otherwise that of no output.
ExportAccount account_of(const json& summary, const ExportedFile& read) {
  const json accounting = summary.value("accounting", json::object());
  ExportAccount account{
      .counted_in_flows = number(accounting, "live_flow_packets") + number(accounting, "ended_record_packets"),
      .records_written = read.records,
      .packets_written = read.packets,
      .balanced = accounting.value("balanced", false)};
  account.packets_offered = account.counted_in_flows;
  const json outputs = summary.value("outputs", json::array());
  for (const json& output : outputs) {
    const json written = output.value("written", json::object()), dropped = output.value("dropped", json::object());
    const std::string name = output.value("name", "");
    const bool may_be_this = name.starts_with("jsonl:") || name == kReportOutput;
    if (!may_be_this || number(written, "records") != read.records) continue;
    account.packets_offered = number(output.value("offered", json::object()), "packets");
    account.has_packets = output.value("packets_in_columns", true);
    account.whole_run = output.value("whole_run", true);
    account.packets_written = number(written, "packets");
    account.records_not_sent = number(dropped, "records");
    account.packets_not_sent = number(dropped, "packets");
  }
  return account;
}

/// Sums over groups of flows, such as hosts.
struct GroupSums {
  std::uint64_t sent = 0, received = 0;
  bool has_both_ends = false;  ///< each packet counts as sent by one group and as received by another
};

/// Returns whether a line has the sum of several flows, such as {"host": {...}}.
bool is_group(const json& object) {
  return object.size() == 1 && object.front().is_object() && !object.contains("flow") && !object.contains("event") &&
         !object.contains("alarm") && !object.contains("summary");
}

/// Adds a group's packets, if its columns have them.
void add_group(const json& object, ExportedFile& read, GroupSums& groups) {
  const json& group = object.front();
  read.has_packets &= group.contains("in_packets") && group.contains("out_packets");
  groups.sent += number(group, "out_packets");
  groups.received += number(group, "in_packets");
  groups.has_both_ends = object.contains("host") || object.contains("prefix");
}

/// Returns what is wrong with the sums, or nothing.
std::string add_up(const GroupSums& groups, ExportedFile& read) {
  read.packets += groups.has_both_ends ? groups.sent : groups.sent + groups.received;
  if (!read.has_packets || !groups.has_both_ends || groups.sent == groups.received) return {};
  return fmt::format("its rows sent {} packets, but received {}", groups.sent, groups.received);
}

}  // namespace

ExportedFile read_json_lines(Bytes file) {
  ExportedFile read;
  std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  json summary;
  GroupSums groups;
  std::size_t findings = 0, lines = 0;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const json object = json::parse(text.substr(0, end), nullptr, /*allow_exceptions=*/false);
    if (!object.is_object()) {
      read.problem = fmt::format("line {} is not a JSON object", line);
      return read;
    }
    ++lines;
    findings += object.contains("task") && (object.contains("window") || object.contains("alarm"));
    if (const auto flow = object.find("flow"); flow != object.end() && flow->is_object()) {
      ++read.records;
      read.packets += number(*flow, "packets") + number(*flow, "reverse_packets");
    }
    if (is_group(object)) {
      ++read.records;
      add_group(object, read, groups);
    }
    if (const auto last = object.find("summary"); last != object.end() && last->is_object()) summary = *last;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  read.problem = add_up(groups, read);
  read.has_findings_alone = findings != 0 && findings == lines;
  if (!summary.is_null()) try {
      read.account = account_of(summary, read);
    } catch (const json::exception&) {
      read.problem = "its summary was not written by parshall";
    }
  return read;
}

}  // namespace parshall
