// SPDX-License-Identifier: Apache-2.0
#include "compare/report/json.hpp"

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "compare/report/flow_table.hpp"
#include "compare/report/warnings.hpp"
#include "pipeline/output/json/flow_json.hpp"

namespace parshall {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Tap& tap) {
  return {{"name", tap.name},
          {"packets", tap.packets},
          {"compared", tap.compared},
          {"filtered", tap.filtered},
          {"not_ip", tap.not_ip},
          {"malformed", tap.malformed},
          {"later_fragments", tap.later_fragments},
          {"cut", tap.cut},
          {"missed", tap.missed},
          {"joined", tap.joined}};
}

Json to_json(const Clocks& clocks) {
  constexpr const char* kKinds[] = {"same", "agree", "corrected", "not_checked", "one_way", "uneven", "unknown"};
  Json json{{"clocks", kKinds[static_cast<std::size_t>(clocks.kind)]}, {"offset_ns", clocks.offset_ns}};
  json["error_ns"] = clocks.error_ns ? Json(*clocks.error_ns) : Json();
  json["at_ns"] = clocks.at_ns;
  json["drift_ppm"] = clocks.drift * 1e6;
  return json;
}

/// Returns the numbers of a comparison under the names of their columns. An absent value is null.
Json to_json(const ComparedRow& row) {
  Json json;
  for (const auto& [info, read] : passed_columns()) {
    const Value value = read(row);
    Json& place = json[info.name];
    if (!value.present()) continue;
    if (info.type.value == ValueType::real)
      place = value.as_real();
    else if (info.type.value == ValueType::signed_integer)
      place = value.as_signed();
    else
      place = value.as_unsigned();
  }
  return json;
}

Json to_json(const Compared& compared, const Passed& there, const Passed& back) {
  return {{"there", to_json(compared.row(there, Way::there))}, {"back", to_json(compared.row(back, Way::back))}};
}

/// Gives the parts of a JSON array of the flows.
template <class Put>
void put_flows(const Compared& compared, std::span<const ComparedFlow* const> flows, Put put) {
  const ComparedTable table(compared, flows);
  const FlowJson format(table.columns());
  std::string object(format.longest(), ' ');
  std::string_view between = "[\n";
  table.visit([&](const ReportFlow& flow) {
    const char* const end = format.put(object.data(), flow);
    put(std::exchange(between, ",\n"));
    put(std::string_view(object.data(), end));
  });
  put(flows.empty() ? "[]" : "]");
}

}  // namespace

std::string summary_json(const Compared& compared, bool intervals) {
  Json json{{"up", to_json(compared.up)}, {"down", to_json(compared.down)}, {"clocks", to_json(compared.found.clocks)}};
  json.update(to_json(compared, compared.found.there, compared.found.back));
  json["ended_flows"] = compared.found.ended_flows;
  json["warnings"] = warnings(compared);
  if (intervals && compared.over_time != nullptr) {
    Json& all = json["intervals"] = Json::array();
    for (const ComparedInterval& interval : compared.over_time->ended()) {
      Json one{{"begin_ns", interval.begin_ns}, {"end_ns", interval.end_ns}, {"is_whole", interval.is_whole}};
      one.update(to_json(compared, interval.there, interval.back));
      all.push_back(std::move(one));
    }
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string flows_json(const Compared& compared, std::span<const ComparedFlow* const> flows) {
  std::string text;
  put_flows(compared, flows, [&](std::string_view part) { text += part; });
  return text;
}

void write_compared_json(const Compared& compared, std::span<const ComparedFlow* const> flows, Output& output) {
  const std::string summary = summary_json(compared, /*intervals=*/true);
  output.write(summary.substr(0, summary.size() - 1) + ",\"flows\":");
  put_flows(compared, flows, [&](std::string_view part) { output.write(part); });
  output.write("}\n");
}

}  // namespace parshall
