// SPDX-License-Identifier: Apache-2.0
#include "app/web/state_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/live/row_key.hpp"
#include "base/or_null.hpp"
#include "base/version.hpp"
#include "pipeline/output/json/alarm_json.hpp"
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

/// Returns which of the first three columns the view has.
std::vector<std::size_t> key_columns(const live::View& view) {
  std::vector<std::size_t> columns;
  for (const std::size_t column : {live::kProtocol, live::kSource, live::kDestination})
    if (!live::key_headings(view.by)[column].empty()) columns.push_back(column);
  return columns;
}

std::string columns_json(const live::View& view) {
  ordered_json columns = ordered_json::array();
  const auto add = [&](std::string_view name, std::string_view unit, std::string_view help, bool is_text = false) {
    columns.push_back({{"name", name}, {"unit", unit}, {"help", help}, {"is_text", is_text}});
  };
  for (const std::size_t column : key_columns(view))
    add(column == live::kProtocol ? "protocol" : live::key_headings(view.by)[column], "", "", true);
  add("pps", "packets/s", "packets per second of packet time, mean over about 10 s");
  add("bit/s", "bit/s", "bits per second of packet time on the wire, mean over about 10 s");
  add("packets", "packets", "since the start");
  add("bytes", "bytes", "on the wire, since the start");
  for (const ColumnInfo& column : view.columns) {
    add(column.name, column.unit, column.help);
    if (!column.values.empty()) columns.back()["values"] = column.values;
  }
  return dumped(columns);
}

std::string row_json(const live::Row& row, const live::View& view) {
  std::string text = "[";
  for (const std::size_t column : key_columns(view)) text += dumped(live::key_text(row.key, column, view)) + ",";
  text += fmt::format("{},{},{},{}", number(row.values[0]), number(row.values[1]), row.packets, row.wire_bytes);
  for (std::size_t i = 2; i < row.values.size(); ++i) text += "," + number(row.values[i]);
  return text += "]";
}

std::string rows_json(const live::View& view) {
  std::string json = "[";
  for (const live::Row& row : view.rows) {
    if (json.back() != '[') json += ',';
    json += row_json(row, view);
  }
  return json += "]";
}

/// Formats the columns and rows of each view, by the name of its rows.
std::string groups_json(std::span<const live::View> groups) {
  std::string json = "{";
  for (const live::View& view : groups) {
    if (json.back() != '{') json += ',';
    json += fmt::format("{}:{{\"columns\":{},\"rows\":{},\"idle\":{},\"matched\":{}}}", dumped(view.by->names.many),
                        columns_json(view), rows_json(view), view.idle, view.matched);
  }
  return json += "}";
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

std::string alarms_json(const AlarmList& list) {
  std::string json = fmt::format("{{\"begun\":{},\"open\":{},\"findings_left_out\":{},\"latest\":[", list.begun,
                                 list.open, list.left_out);
  for (const Alarm& alarm : list.alarms) {
    if (json.back() != '[') json += ',';
    json += fmt::format("{{\"alarm\":{},\"history\":[{}],\"stretch\":{}}}", alarm_json(alarm),
                        fmt::join(alarm.history.values(), ","), alarm.history.stretch());
  }
  return json += "]}";
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

std::string state_json(const live::View& view, std::span<const live::View> groups, const Moment& now,
                       const TaskResults& tasks) {
  std::string json = fmt::format(
      "{{\"version\":{},\"now\":{},\"summary\":{},\"lately\":{},\"columns\":{},\"flows\":{},\"idle\":{},\"groups\":{},"
      "\"events\":[",
      dumped(version()), moment_json(now), summary_json(view.summary), view.lately ? lately_json(*view.lately) : "null",
      columns_json(view), rows_json(view), view.idle, groups_json(groups));
  for (const Event& event : tasks.events) {
    if (json.back() != '[') json += ',';
    json += fmt::format("{{\"text\":{},\"event\":{}}}", dumped(event_words(event)), event_json(event));
  }
  return json += fmt::format("],\"alarms\":{},\"states\":{},\"recall\":{}}}",
                             tasks.alarms ? alarms_json(*tasks.alarms) : "null", dumped(states_of(view.summary.states)),
                             recalls_json(tasks.recalls));
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
