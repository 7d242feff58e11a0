// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/json/alarm_json.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "pipeline/output/format.hpp"
#include "pipeline/output/json/event_json.hpp"

namespace parshall {
std::string iso_time(std::uint64_t ns) {
  std::array<char, kIsoTimeChars> text;
  return {text.data(), put_iso_time(text.data(), ns)};
}

std::string alarm_id(const Alarm& alarm) { return fmt::format("{:016x}", alarm.id); }

std::string alarm_json(const Alarm& alarm) {
  const nlohmann::ordered_json event = nlohmann::ordered_json::parse(event_json(alarm.latest));
  nlohmann::ordered_json json{
      {"alarm", name_of(alarm.state)},
      {"id", alarm_id(alarm)},
      {"severity", name_of(alarm.severity)},
      {"task", alarm.latest.task},
      {"key", event.at("key")},
      {"key_text", event_key_text(alarm.latest)},
      {"begin", iso_time(alarm.begin_ns)},
      {"end", iso_time(alarm.end_ns)},
      {"begin_ns", alarm.begin_ns},
      {"end_ns", alarm.end_ns},
      {"duration_s", alarm.seconds()},
      {"windows", alarm.windows},
      {"findings", alarm.findings},
      {"muted", alarm.muted == Alarm::Muted::no ? nlohmann::ordered_json(nullptr) : name_of(alarm.muted)}};
  if (!alarm.latest.values.empty()) {
    const std::string& name = alarm.latest.values.front().name;
    json["value"] = {{"name", name}, {"peak", alarm.peak}, {"last", event.at("values").at(name)}};
  }
  for (const char* const part : {"values", "exact", "error"})
    if (event.contains(part)) json[part] = event.at(part);
  return json.dump();
}

}  // namespace parshall
