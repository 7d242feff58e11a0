// SPDX-License-Identifier: Apache-2.0
#include "parshall/metrics.hpp"

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "base/version.hpp"
#include "parshall/metrics_text.hpp"
#include "pipeline/output/accounting.hpp"

namespace parshall {
namespace {

using Kind = MetricsText::Kind;
constexpr double kSPerNs = 1e-9;

/// Writes a counter in base units, with the unit at the end of its name. Source: the naming practices of Prometheus.
void put_counter(const CounterLine& line, std::uint64_t value, MetricsText& text) {
  if (line.id == Counter::live_flow_packets || line.id == Counter::live_flows)  // they go down, too
    return text.put(fmt::format("parshall_{}", line.name), Kind::gauge, line.help, value);
  std::string name(line.name);
  if (line.unit == "ns") {
    name.resize(name.size() - std::string_view("_ns").size());
    return text.put(fmt::format("parshall_{}_seconds_total", name), Kind::counter, line.help,
                    kSPerNs * static_cast<double>(value));
  }
  if (!name.ends_with(line.unit)) name += fmt::format("_{}", line.unit);
  text.put(fmt::format("parshall_{}_total", name), Kind::counter, line.help, value);
}

/// Writes the totals of all counters that can be read at any time; those that need a walk over the tables are left out.
void put_counters(const Accounting& counters, bool has_flows, MetricsText& text) {
  const auto is_known = [&](const CounterLine& line) {
    const bool takes_flows = line.id == Counter::ip_bytes || line.id == Counter::live_flows;
    return line.by != CountedBy::walk && counters.known(line.id) && (has_flows || !takes_flows);
  };
  for (const CounterLine& line : Counters::kTable)
    if (is_known(line)) put_counter(line, counters[line.id], text);
  text.put("parshall_offered_packets_total", Kind::counter, "packets that came: lost ones, and those handed over",
           counters.offered());
  text.begin("parshall_lost_packets_total", Kind::counter, "packets that nobody counted, by what lost them");
  for (const CounterLine& line : Counters::kTable)
    if ((line.part == CounterPart::device_lost || line.id == Counter::ring_full) && counters.known(line.id))
      text.put(counters[line.id], {{"cause", line.name}});
  text.put("parshall_unaccounted_packets", Kind::gauge,
           "packets handed over that no counter has: 0, but while they are counted",
           static_cast<double>(counters[Counter::polled]) - static_cast<double>(counters.outcomes()));
}

void put_outputs(const std::vector<OutputSummary>& outputs, MetricsText& text) {
  using Sum = OutputSummary::Sum;
  struct Unit {
    std::string_view name, help;
    std::uint64_t Sum::*count;
  };
  constexpr Unit kUnits[] = {{"records", "flow records", &Sum::records},
                             {"packets", "packets in flow records", &Sum::packets},
                             {"findings", "what tasks found", &Sum::findings}};
  struct State {
    std::string_view name;
    Sum OutputSummary::*sum;
  };
  constexpr State kStates[] = {{"offered", &OutputSummary::offered},
                               {"unconfirmed", &OutputSummary::unconfirmed},
                               {"dropped", &OutputSummary::dropped}};
  std::map<std::string, OutputSummary> by_name;  // an output that was removed may have been added again
  for (const OutputSummary& output : outputs) {
    OutputSummary& sums = by_name[output.name];
    for (const State& state : kStates) sums.*state.sum += output.*state.sum;
    sums.written += output.written;
  }
  for (const Unit& unit : kUnits) {
    text.begin(fmt::format("parshall_output_{}_total", unit.name), Kind::counter,
               fmt::format("{} of an output: offered = written + unconfirmed + waiting + dropped", unit.help));
    for (const auto& [name, output] : by_name)
      for (const State& state : kStates)
        text.put((output.*state.sum).*unit.count, {{"output", name}, {"state", state.name}});
    text.begin(fmt::format("parshall_output_waiting_{}", unit.name), Kind::gauge,
               fmt::format("{} on their way to an output", unit.help));
    for (const auto& [name, output] : by_name) text.put(output.waiting().*unit.count, {{"output", name}});
    text.begin(fmt::format("parshall_output_written_{}", unit.name), Kind::gauge,
               fmt::format("{} that an output has written; fewer where some become unconfirmed", unit.help));
    for (const auto& [name, output] : by_name) text.put(output.written.*unit.count, {{"output", name}});
  }
}

void put_tasks(const std::vector<TaskTally::Task>& tasks, MetricsText& text) {
  if (tasks.empty()) return;
  using Task = TaskTally::Task;
  const auto put_each = [&](std::string_view name, Kind kind, std::string_view help, auto value) {
    text.begin(name, kind, help);
    for (const Task& task : tasks)
      if (const auto number = value(task)) text.put(*number, {{"task", task.name}});
  };
  using Number = std::optional<double>;
  using Count = std::optional<std::uint64_t>;
  put_each("parshall_task_events_total", Kind::counter, "events of a task",
           [](const Task& task) { return Count(task.events); });
  put_each("parshall_task_keys_left_out_total", Kind::counter,
           "keys of a window that a task left out for want of room (--task-keys)",
           [](const Task& task) { return Count(task.keys_left_out); });
  put_each("parshall_task_last_event_time_seconds", Kind::gauge,
           "packet time, since 1970, of the last window that had an event of the task", [](const Task& task) {
             return task.events == 0 ? std::nullopt : Number(kSPerNs * static_cast<double>(task.last_event_ns));
           });
  text.begin("parshall_task_value", Kind::gauge, "number of a task's last event about all traffic");
  for (const Task& task : tasks)
    for (const EventValue& value : task.values)
      std::visit([&](auto number) { text.put(number, {{"task", task.name}, {"value", value.name}}); }, value.value);
  put_each("parshall_task_recall_ratio", Kind::gauge, "share that a task found in the last window told of, by estimate",
           [](const Task& task) { return task.latest ? task.latest->recall : std::nullopt; });
  put_each("parshall_task_recall_at_least_ratio", Kind::gauge, "bound of that share in 95 of 100 windows",
           [](const Task& task) { return task.latest ? task.latest->at_least : std::nullopt; });
  put_each("parshall_task_recall_wanted_ratio", Kind::gauge, "share that the task is to find",
           [](const Task& task) { return task.latest ? Number(task.latest->threshold) : std::nullopt; });
  put_each("parshall_task_seen_flows_total", Kind::counter, "flows that a task saw, of windows told of",
           [](const Task& task) { return task.latest ? Count(task.flows_seen) : std::nullopt; });
  put_each("parshall_task_missed_flows_total", Kind::counter, "flows that a task missed, of windows told of",
           [](const Task& task) { return task.latest ? Count(task.flows_missed) : std::nullopt; });
}

void put_alarms(const std::vector<AlarmCount>& alarms, MetricsText& text) {
  if (alarms.empty()) return;
  text.begin("parshall_task_open_alarms", Kind::gauge, "alarms of a task that have not ended");
  for (const AlarmCount& count : alarms) text.put(count.open, {{"task", count.task}});
  text.begin("parshall_task_alarms_total", Kind::counter, "alarms of a task that have begun");
  for (const AlarmCount& count : alarms) text.put(count.begun, {{"task", count.task}});
}

}  // namespace

std::string metrics_text(const MetricsState& state) {
  MetricsText text;
  text.put("parshall_info", Kind::gauge, "what is watched, and by which version", std::uint64_t{1},
           {{"source", state.source}, {"version", version()}});
  text.put("parshall_start_time_seconds", Kind::gauge, "when the counters were 0, since 1970", state.began_s);
  put_counters(Accounting(state.counters), state.has_flows, text);
  put_outputs(state.outputs, text);
  put_tasks(state.tasks, text);
  put_alarms(state.alarms, text);
  return text.text();
}

}  // namespace parshall
