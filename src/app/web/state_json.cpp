// SPDX-License-Identifier: Apache-2.0
#include "app/web/state_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/live/choice.hpp"
#include "app/live/row_key.hpp"
#include "app/web/rows_query.hpp"
#include "base/or_null.hpp"
#include "base/version.hpp"
#include "pipeline/output/json/alarm_json.hpp"
#include "pipeline/output/json/event_json.hpp"
#include "pipeline/output/json/summary_json.hpp"
#include "pipeline/output/text/event_text.hpp"

namespace parshall::web {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostRows = 100;

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
  const std::string over = fmt::format("mean over about {} s", view.arrangement.window_s());
  add("pps", "packets/s", "packets per second of packet time, " + over);
  add("bit/s", "bit/s", "bits per second of packet time on the wire, " + over);
  add("packets", "packets", "of flows that have not ended, since their starts");
  add("bytes", "bytes", "on the wire, likewise");
  for (const ColumnInfo& column : view.columns) {
    add(column.name, column.unit, column.help);
    if (!column.values.empty()) columns.back()["values"] = column.values;
  }
  return dumped(columns);
}

std::string row_json(const live::Row& row, const live::View& view) {
  std::string text = "[";
  for (const std::size_t column : key_columns(view)) text += dumped(live::key_text(row, column, view)) + ",";
  text += fmt::format("{},{},{},{}", number(row.values[0]), number(row.values[1]), row.packets, row.wire_bytes);
  for (std::size_t i = 2; i < row.values.size(); ++i) text += "," + number(row.values[i]);
  return text += "]";
}

std::string kinds_json(const live::RowChoice& choice) {
  ordered_json kinds = ordered_json::array();
  for (const Grouping* const each : choice.all)
    kinds.push_back(
        {{"name", each->names.one}, {"many", each->names.many}, {"opens", each->opens.empty() ? kFlows : each->opens}});
  if (choice.has_flows) kinds.push_back({{"name", kFlows}, {"many", "flows"}, {"opens", nullptr}});
  return dumped(kinds);
}

std::string shares_json(std::span<const Shares> all) {
  ordered_json json = ordered_json::object();
  for (const Shares& shares : all) {
    ordered_json& part = json[shares.of] = {{"bps", shares.bps}, {"largest", ordered_json::array()}};
    for (const Share& share : shares.largest) part["largest"].push_back({share.name, share.bps});
  }
  return dumped(json);
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

std::string alarms_json(const std::optional<AlarmList>& known) {
  if (!known) return "null";
  const AlarmList& list = *known;
  std::string json = fmt::format("{{\"begun\":{},\"open\":{},\"findings_left_out\":{},\"latest\":[", list.begun,
                                 list.open, list.left_out);
  for (const Alarm& alarm : list.alarms) {
    if (json.back() != '[') json += ',';
    json += fmt::format("{{\"alarm\":{},\"history\":[{}],\"stretch\":{}}}", alarm_json(alarm),
                        fmt::join(alarm.history.values(), ","), alarm.history.stretch());
  }
  return json += "]}";
}

std::string common_json(const live::Rows& flows, const Moment& now, const TaskResults& tasks,
                        std::span<const Shares> shares, const live::RowChoice& choice) {
  std::string json =
      fmt::format("\"version\":{},\"now\":{},\"summary\":{},\"lately\":{},\"kinds\":{},\"shares\":{},\"events\":[",
                  dumped(version()), moment_json(now), summary_json(flows.summary),
                  flows.lately ? lately_json(*flows.lately) : "null", kinds_json(choice), shares_json(shares));
  for (const Event& event : tasks.events) {
    if (json.back() != '[') json += ',';
    json += fmt::format("{{\"text\":{},\"event\":{}}}", dumped(event_words(event)), event_json(event));
  }
  return json += fmt::format("],\"states\":{},\"recall\":{}", dumped(states_of(flows.summary.states)),
                             recalls_json(tasks.recalls));
}

std::string rows_json(const live::View& view) {
  std::string rows = "[", names = "[";
  for (const live::Row& row : std::span(view.rows).first(std::min(view.rows.size(), kMostRows))) {
    if (rows.back() != '[') rows += ',', names += ',';
    rows += row_json(row, view);
    const bool is_group = view.by != nullptr && row.key.present();
    names += is_group ? dumped(name_of(*view.by, row.key)) : "null";
  }
  return fmt::format(
      "{{\"by\":{},\"columns\":{},\"rows\":{}],\"names\":{}],\"matched\":{},\"idle\":{},\"window_s\":{},\"exact\":{},"
      "\"filter_problem\":{}}}",
      dumped(view.by != nullptr ? view.by->names.one : kFlows), columns_json(view), rows, names, view.matched,
      view.idle, view.arrangement.window_s(), live::counts_all(view.summary), dumped(view.filter_problem));
}

std::string rows_json(const Error& problem) { return fmt::format("{{\"problem\":{}}}", dumped(problem.message)); }

std::string history_json(const std::deque<Moment>& moments) {
  std::string json = "[";
  for (const Moment& moment : moments) {
    if (json.back() != '[') json += ',';
    json += moment_json(moment);
  }
  return json += "]";
}

}  // namespace parshall::web
