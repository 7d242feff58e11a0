// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/text/event_text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <span>
#include <vector>

#include "base/counted.hpp"
#include "base/flow_weight.hpp"
#include "pipeline/output/json/event_json.hpp"
#include "pipeline/output/text/alarm_text.hpp"

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

/// Returns the window's beginning: its time, or the packet.
std::string begin_text(const EventWindow& window, TimeZone zone) {
  const std::uint64_t begin = window.length.begin_of(window.number);
  return window.length.unit == WindowLength::Unit::packets ? fmt::format("packet {}", begin) : time_text(begin, zone);
}

std::optional<double> number_of(const Event& event, std::string_view name) {
  for (const EventValue& value : event.values)
    if (value.name == name) return std::visit([](auto number) { return static_cast<double>(number); }, value.value);
  return std::nullopt;
}

std::string percent(double share) {
  if (share > 0 && share < 0.01) return "less than 1 %";
  return share > 0.99 && share < 1 ? "more than 99 %" : fmt::format("{:.0f} %", 100 * share);
}

/// Returns which flows a task followed, by their packets in 10 ms where that differs; empty if it is not known.
std::string followed_text(const Event& event) {
  constexpr double kAlike = 0.05;
  struct Range {
    std::uint64_t from;
    double share;
  };
  std::vector<Range> ranges;
  for (std::size_t weight = 0; weight < FlowWeight::kClasses; ++weight)
    if (const auto share = number_of(event, followed_from(weight)))
      if (ranges.empty() || std::abs(*share - ranges.back().share) > kAlike)
        ranges.push_back({FlowWeight::least_packets(weight), *share});
  if (ranges.empty()) return "";
  if (ranges.size() == 1) return fmt::format("it followed {} of its flows", percent(ranges[0].share));
  std::string text =
      fmt::format("it followed {} of its flows below {} packets in 10 ms", percent(ranges[0].share), ranges[1].from);
  for (std::size_t i = 1; i + 1 < ranges.size(); ++i)
    text += fmt::format(", {} of those below {}", percent(ranges[i].share), ranges[i + 1].from);
  return text + fmt::format(" and {} of the others", percent(ranges.back().share));
}

/// Returns what a task found in a window in which it missed something, which flows it followed, and why.
std::string recall_text(const Event& event) {
  const auto recall = number_of(event, "recall"), at_least = number_of(event, "recall_at_least"),
             wanted = number_of(event, "recall_wanted");
  const double lost = number_of(event, "packets_missed").value_or(0);
  std::string text = recall && at_least ? fmt::format("found about {} of its events (at least {})", percent(*recall),
                                                      percent(*at_least))
                                        : "nothing is known of what it missed";
  if (recall && wanted)
    text += fmt::format(", {} the {} that it wants", *recall >= *wanted ? "enough for" : "less than", percent(*wanted));
  const double missed = number_of(event, "flows_missed").value_or(0),
               without_room = number_of(event, "flows_without_room").value_or(0);
  if (missed > without_room) {
    const std::string followed = followed_text(event);
    text +=
        fmt::format(": time was short, so {}",
                    followed.empty() ? "it left out " + counted(static_cast<std::uint64_t>(missed), "flow") : followed);
  }
  if (without_room > 0)
    text += fmt::format("; no room for {}", counted(static_cast<std::uint64_t>(without_room), "flow"));
  if (lost > 0) text += fmt::format("; {} lost", counted(static_cast<std::uint64_t>(lost), "packet"));
  return text;
}

}  // namespace

std::string time_text(std::uint64_t ns, TimeZone zone) {
  const auto seconds = static_cast<std::time_t>(ns / 1'000'000'000);
  const std::uint64_t ms = ns / 1'000'000 % 1000;
  const std::string fraction = ms == 0 ? "" : fmt::format(".{:03}", ms);
  if (zone == TimeZone::utc) return fmt::format("{:%Y-%m-%dT%H:%M:%S}{}Z", fmt::gmtime(seconds), fraction);
  const std::tm local = fmt::localtime(seconds);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}{} {:%Z}", local, fraction, local);
}

std::string event_words(const Event& event) {
  if (event.kind == EventKind::recall) return event.task + "  " + recall_text(event);
  std::string text = event.task;
  if (const std::string key = event_key_text(event); !key.empty()) text += "  " + key;
  for (std::size_t i = 0; i < std::min(kValuesShown, event.values.size()); ++i)
    text += "  " + value_text(event.values[i]);
  if (event.values.size() > kValuesShown) text += "  ...";
  for (std::size_t i = 0; i < event.error.size(); ++i)
    text += (i == 0 ? "  (error: " : ", ") + value_text(event.error[i]) + (i + 1 == event.error.size() ? ")" : "");
  return text;
}

std::string event_text(const Event& event, TimeZone zone) {
  return fmt::format("{}  {}", begin_text(event.window, zone), event_words(event));
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
          "{} could not be kept until acknowledged, so round-trip times are missing: their connections had more than "
          "256 at once, or all flows together too many for --flows\n",
          counted(summary.segments_not_kept, "TCP segment"));
    if (summary.events_not_taken != 0)
      text += fmt::format("{} dropped because the queue to the report was full\n",
                          counted(summary.events_not_taken, "event"));
  }
  if (summary.alarms) text += alarms_text(*summary.alarms, kShown);
  std::vector<const Event*> others;  // findings are in the alarms
  for (const Event& event : report.events)
    if (event.kind != EventKind::finding) others.push_back(&event);
  if (others.empty()) return text;
  const auto shown = std::span(others).last(std::min(kShown, others.size()));
  text +=
      fmt::format("\nfigures of all traffic (the latest {}; all events with --export events:FILE):\n", shown.size());
  for (const Event* const event : shown) text += event_text(*event) + "\n";
  return text;
}

}  // namespace parshall
