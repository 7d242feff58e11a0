// SPDX-License-Identifier: Apache-2.0
#include "app/task_results.hpp"

#include "pipeline/output/text/alarm_text.hpp"
#include "pipeline/output/text/event_text.hpp"

namespace parshall::cli {

std::optional<AlarmList> TaskResults::alarms(std::size_t most) const {
  const AlarmBook* const book = outputs_->alarms();
  return book == nullptr ? std::nullopt : std::optional(book->list(most));
}

web::TaskResults TaskResults::for_page() const {
  return {.events = figures_.latest(kMostOnPage), .alarms = alarms(kMostOnPage), .recalls = recalls()};
}

std::vector<std::string> TaskResults::lines(const std::vector<live::Opened>& within) const {
  std::vector<std::string> lines;
  if (!within.empty()) {
    for (const Alarm& alarm : alarms_of(within)) lines.push_back(alarm_text(alarm, TimeZone::local));
    if (lines.size() > kMostLines) lines.erase(lines.begin(), lines.end() - kMostLines);
    return lines;
  }
  const AlarmList list = alarms(kMostLines).value_or(AlarmList());
  for (const Event& event : figures_.latest(kMostLines - list.alarms.size()))
    lines.push_back(event_text(event, TimeZone::local));
  for (const Alarm& alarm : list.alarms) lines.push_back(alarm_text(alarm, TimeZone::local));
  return lines;
}

/// Returns the alarms whose keys belong to all of these groups. Keys of alarms have no VLAN and the like, so groups by
/// such columns do not count.
std::vector<Alarm> TaskResults::alarms_of(std::vector<live::Opened> groups) const {
  std::erase_if(groups, [](const live::Opened& each) { return each.by->find == nullptr || each.by->needs_local; });
  const Networks none;
  const live::Within within(groups, none, {});
  std::vector<Alarm> found = alarms(AlarmBook::kMostOpen + AlarmBook::kMostEnded).value_or(AlarmList()).alarms;
  std::erase_if(found, [&](const Alarm& alarm) {
    return alarm.latest.part == nullptr || !within.contains(alarm.latest.key, {});
  });
  return found;
}

}  // namespace parshall::cli
