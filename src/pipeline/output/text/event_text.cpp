// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/text/event_text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "base/counted.hpp"
#include "pipeline/output/json/event_json.hpp"

namespace parshall {
namespace {

constexpr std::size_t kShown = 20;
constexpr std::size_t kValuesShown = 6;

std::string value_text(const EventValue& value) {
  return std::visit(
      [&](auto number) {
        if constexpr (std::is_same_v<decltype(number), double>)
          return fmt::format("{} {:.4g}", value.name, number);
        else
          return fmt::format("{} {}", value.name, number);
      },
      value.value);
}

/// Returns the window's beginning: time of day in UTC, or the packet.
std::string begin_text(const EventWindow& window) {
  const std::uint64_t begin = window.length.begin_of(window.number);
  if (window.length.unit == WindowLength::Unit::packets) return fmt::format("packet {}", begin);
  const std::time_t seconds = static_cast<std::time_t>(begin / 1'000'000'000);
  const std::string time = fmt::format("{:%H:%M:%S}", fmt::gmtime(seconds));
  const std::uint64_t ms = begin / 1'000'000 % 1000;
  return ms == 0 ? time : fmt::format("{}.{:03}", time, ms);
}

}  // namespace

std::string event_text(const Event& event) {
  std::string text = fmt::format("{}  {}", begin_text(event.window), event.task);
  if (const std::string key = event_key_text(event); !key.empty()) text += "  " + key;
  for (std::size_t i = 0; i < std::min(kValuesShown, event.values.size()); ++i)
    text += "  " + value_text(event.values[i]);
  if (event.values.size() > kValuesShown) text += "  ...";
  for (std::size_t i = 0; i < event.error.size(); ++i)
    text += (i == 0 ? "  (error: " : ", ") + value_text(event.error[i]) + (i + 1 == event.error.size() ? ")" : "");
  return text;
}

std::string events_text(const Report& report) {
  const ReportSummary& summary = report.summary;
  std::string text;
  if (!summary.tasks.empty()) {
    text += fmt::format("{}{};", counted(summary.windows, "window"),
                        summary.windows_balanced ? "" : " (NOT balanced: please report this)");
    for (const TaskSummary& task : summary.tasks) {
      text += fmt::format(" {} {}", task.name, task.events);
      if (task.dropped != 0) text += fmt::format(" (and {} left out)", task.dropped);
    }
    text += summary.tasks.size() == 1 && summary.tasks.front().events == 1 ? " event\n" : " events\n";
    for (const TaskSummary& task : summary.tasks)
      if (task.keys_left_out != 0)
        text += fmt::format("{}: {} keys were left out because the table of keys was full (--task-keys)\n", task.name,
                            task.keys_left_out);
    if (summary.segments_not_kept != 0)
      text += fmt::format(
          "{} could not be kept until acknowledged, so round-trip times are missing: give a larger --flows\n",
          counted(summary.segments_not_kept, "TCP segment"));
    if (summary.events_not_taken != 0)
      text += fmt::format("{} dropped because the queue to the report was full\n",
                          counted(summary.events_not_taken, "event"));
  }
  if (report.events.empty()) return text;
  const auto shown = report.events.last(std::min(kShown, report.events.size()));
  text += fmt::format("\nevents (the last {} of {}; all with --export events:FILE):\n", shown.size(),
                      report.events.size() + report.events_left_out);
  for (const Event& event : shown) text += event_text(event) + "\n";
  return text;
}

}  // namespace parshall
