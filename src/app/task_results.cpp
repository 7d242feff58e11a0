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

std::vector<std::string> TaskResults::lines() const {
  std::vector<std::string> lines;
  const AlarmList list = alarms(kMostLines).value_or(AlarmList());
  for (const Event& event : figures_.latest(kMostLines - list.alarms.size()))
    lines.push_back(event_text(event, TimeZone::local));
  for (const Alarm& alarm : list.alarms) lines.push_back(alarm_text(alarm, TimeZone::local));
  return lines;
}

}  // namespace parshall::cli
