// SPDX-License-Identifier: Apache-2.0
#include "app/web/state_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/or_null.hpp"
#include "base/version.hpp"
#include "pipeline/output/format.hpp"
#include "pipeline/output/json/event_json.hpp"
#include "pipeline/output/json/summary_json.hpp"
#include "pipeline/output/text/event_text.hpp"

namespace parshall::web {
namespace {

using nlohmann::ordered_json;

std::string dumped(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.6g}", value) : "null"; }

/// Formats "10.0.0.1:80" or "[2001:db8::1]:443"; without a port, the address alone.
std::string endpoint(std::span<const std::uint8_t> address, std::uint16_t port) {
  std::string text = address_text(address);
  if (port == 0) return text;
  return fmt::format(fmt::runtime(address.size() == 16 ? "[{}]:{}" : "{}:{}"), text, port);
}

std::string columns_json(const live::View& view) {
  ordered_json columns = ordered_json::array();
  const auto add = [&](std::string_view name, std::string_view help, const ordered_json& values = nullptr) {
    columns.push_back({{"name", name}, {"help", help}, {"is_text", columns.size() <= live::kDestination}});
    if (!values.is_null()) columns.back()["values"] = values;
  };
  add("protocol", "");
  add("source", "");
  add("destination", "");
  add("pps", "packets per second of packet time, since the previous state");
  add("bit/s", "bits per second of packet time on the wire, since the previous state");
  add("packets", "since the flow began");
  add("bytes", "on the wire, since the flow began");
  for (const ColumnInfo& column : view.columns)
    add(column.name, column.help, column.values.empty() ? ordered_json() : ordered_json(column.values));
  return dumped(columns);
}

std::string flow_json(const live::Row& row) {
  std::string text = fmt::format("[{},\"{}\",\"{}\",{},{},{},{}", dumped(protocol_text(row.key.protocol)),
                                 endpoint(row.key.src_address(), row.key.src_port()),
                                 endpoint(row.key.dst_address(), row.key.dst_port()), number(row.values[0]),
                                 number(row.values[1]), row.packets, row.wire_bytes);
  for (std::size_t i = 2; i < row.values.size(); ++i) text += "," + number(row.values[i]);
  return text += "]";
}

ordered_json states_of(const std::vector<StateSummary>& states) {
  ordered_json json = ordered_json::object();
  for (const StateSummary& state : states)
    json[state.name] = {{"packets", state.packets}, {"packets_not_reduced", state.kept}};
  return json;
}

std::string lately_json(const live::Interval& lately) {
  ordered_json json{{"seconds", lately.seconds},  {"seconds_reduced", lately.reduced_s},
                    {"windows", lately.windows},  {"windows_infeasible", lately.infeasible},
                    {"lost", lately.came.lost()}, {"states", states_of(lately.states)}};
  return dumped(json);
}

std::string recalls_json(std::span<const live::TaskRecall> recalls) {
  ordered_json all = ordered_json::array();
  for (const live::TaskRecall& recall : recalls)
    all.push_back({{"task", recall.task},
                   {"threshold", recall.threshold},
                   {"recall", or_null(recall.recall)},
                   {"at_least", or_null(recall.at_least)},
                   {"flows_seen", recall.flows_seen},
                   {"flows_missed", recall.flows_missed},
                   {"packets_missed", recall.packets_missed},
                   {"latest_event", recall.latest_event}});
  return dumped(all);
}

std::string moment_json(const Moment& moment) {
  return fmt::format("[{:.3f},{},{},{}]", moment.at_s, number(moment.pps), number(moment.bps), number(moment.lost_pps));
}

}  // namespace

Moment moment_of(double at_s, double seconds, const Accounting& before, const Accounting& after) {
  const auto rate = [&](std::uint64_t was, std::uint64_t is) {
    return static_cast<double>(is - std::min(was, is)) / seconds;
  };
  return {.at_s = at_s,
          .pps = rate(before.counted(), after.counted()),
          .bps = 8 * rate(before[Counter::wire_bytes], after[Counter::wire_bytes]),
          .lost_pps = rate(before.lost(), after.lost())};
}

std::string state_json(const live::View& view, const Moment& now, std::span<const Event> events,
                       std::span<const live::TaskRecall> recalls) {
  std::string json = fmt::format("{{\"version\":{},\"now\":{},\"summary\":{},\"lately\":{},\"columns\":{},\"flows\":[",
                                 dumped(version()), moment_json(now), summary_json(view.summary),
                                 view.lately ? lately_json(*view.lately) : "null", columns_json(view));
  for (const live::Row& row : view.rows) {
    if (json.back() != '[') json += ',';
    json += flow_json(row);
  }
  json += "],\"events\":[";
  for (const Event& event : events) {
    if (json.back() != '[') json += ',';
    json += fmt::format("{{\"text\":{},\"event\":{}}}", dumped(event_text(event)), event_json(event));
  }
  return json +=
         fmt::format("],\"states\":{},\"recall\":{}}}", dumped(states_of(view.summary.states)), recalls_json(recalls));
}

std::string history_json(const std::deque<Moment>& moments) {
  std::string json = "[";
  for (const Moment& moment : moments) {
    if (json.back() != '[') json += ',';
    json += moment_json(moment);
  }
  return json += "]";
}

}  // namespace parshall::web
