// SPDX-License-Identifier: Apache-2.0
#include "app/task_results.hpp"

#include "app/alarms_of.hpp"
#include "pipeline/output/text/alarm_text.hpp"
#include "pipeline/output/text/event_text.hpp"

namespace parshall::cli {

std::optional<AlarmList> TaskResults::alarms(std::size_t most, const std::vector<live::Opened>& within) const {
  const AlarmBook* const book = outputs_->alarms();
  if (book == nullptr) return std::nullopt;
  if (within.empty()) return book->list(most);
  return book->list(most, [&](const Alarm& alarm) { return belongs_to(alarm.latest, within); });
}

web::TaskResults TaskResults::for_page() const {
  return {.events = figures_.latest(kMostOnPage), .alarms = page_alarms({}), .recalls = recalls()};
}

std::vector<std::string> TaskResults::lines(const std::vector<live::Opened>& within) const {
  std::vector<std::string> lines;
  const AlarmList list = alarms(kMostLines, within).value_or(AlarmList());
  if (within.empty())
    for (const Event& event : figures_.latest(kMostLines - list.alarms.size()))
      lines.push_back(event_text(event, TimeZone::local));
  for (const Alarm& alarm : list.alarms) lines.push_back(alarm_text(alarm, TimeZone::local));
  return lines;
}

}  // namespace parshall::cli
