// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/text/alarm_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "base/counted.hpp"
#include "pipeline/output/alarms/alarm_book.hpp"

namespace parshall {
namespace {

/// Returns a length of time in words: 1.5 s, 3 min, 2.1 h.
std::string length_text(double seconds) {
  if (seconds < 120) return fmt::format("{:.3g} s", seconds);
  return seconds < 7200 ? fmt::format("{:.3g} min", seconds / 60) : fmt::format("{:.3g} h", seconds / 3600);
}

}  // namespace

std::string alarm_words(const Alarm& alarm) {
  std::string text = fmt::format("{}  {}  (peak {:.6g}, {} {})", name_of(alarm.severity), event_words(alarm.latest),
                                 alarm.peak, alarm.is_over() ? "lasted" : "open for", length_text(alarm.seconds()));
  if (alarm.muted != Alarm::Muted::no) text += fmt::format("  muted: {}", name_of(alarm.muted));
  return text;
}

std::string alarm_text(const Alarm& alarm, TimeZone zone) {
  return fmt::format("{}  {}", time_text(alarm.begin_ns, zone), alarm_words(alarm));
}

std::string alarms_text(const AlarmList& list, std::size_t most) {
  std::string text;
  if (list.left_out != 0)
    text += fmt::format("{} began no alarm: a task has room for {} open ones\n", counted(list.left_out, "finding"),
                        AlarmBook::kMostOpen);
  if (list.alarms.empty()) return text;
  std::vector<const Alarm*> shown;
  for (const Alarm& alarm : list.alarms) shown.push_back(&alarm);
  std::ranges::stable_sort(shown, {}, &Alarm::severity);
  if (shown.size() > most) shown.erase(shown.begin(), shown.end() - static_cast<std::ptrdiff_t>(most));
  std::ranges::sort(shown, {}, [](const Alarm* alarm) { return std::tuple(alarm->begin_ns, alarm->id); });
  text += fmt::format("\nalarms ({} of {}, {} open; all with --export alarms:FILE):\n", shown.size(), list.begun,
                      list.open);
  for (const Alarm* const alarm : shown) text += alarm_text(*alarm) + "\n";
  return text;
}

}  // namespace parshall
