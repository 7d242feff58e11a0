// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/tasks/alarm_rules.hpp"

#include <fmt/format.h>

#include <charconv>
#include <ctime>
#include <limits>

namespace parshall {
namespace {

/// Parses "06:30" into minutes.
std::optional<unsigned> parse_minutes(std::string_view text) {
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  const auto number = [](std::string_view digits, unsigned most) -> std::optional<unsigned> {
    unsigned value = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (problem != std::errc() || end != digits.data() + digits.size() || value > most) return std::nullopt;
    return value;
  };
  const auto hours = number(text.substr(0, 2), 24), minutes = number(text.substr(3), 59);
  if (!hours || !minutes || (*hours == 24 && *minutes != 0)) return std::nullopt;
  return 60 * *hours + *minutes;
}

}  // namespace

std::optional<TimeOfDay> TimeOfDay::parse(const std::string& text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string::npos) return std::nullopt;
  const auto begin = parse_minutes(std::string_view(text).substr(0, dash)),
             end = parse_minutes(std::string_view(text).substr(dash + 1));
  if (!begin || !end || *begin == *end) return std::nullopt;
  return TimeOfDay{.begin_min = *begin, .end_min = *end};
}

bool TimeOfDay::has(std::uint64_t time_ns) const {
  const auto seconds = static_cast<std::time_t>(time_ns / 1'000'000'000);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  const auto minute = static_cast<unsigned>(60 * local.tm_hour + local.tm_min);
  return begin_min < end_min ? minute >= begin_min && minute < end_min : minute >= begin_min || minute < end_min;
}

void AlarmRules::take(Arguments& arguments) {
  if (arguments.given("severity")) severity = static_cast<Severity>(arguments.choice("severity", kSeverities));
  if (arguments.given("hold-off")) hold_off_ns = arguments.duration_ns("hold-off", 0);
  if (arguments.given("min-packets"))
    min_packets = arguments.count("min-packets", 0, std::numeric_limits<std::uint64_t>::max());
  if (arguments.given("min-rate")) min_bps = arguments.count("min-rate", 0, std::numeric_limits<std::uint64_t>::max());
  if (arguments.given("mute")) muted = arguments.networks("mute");
  if (arguments.given("quiet")) {
    quiet = TimeOfDay::parse(arguments.text("quiet"));
    if (!quiet)
      arguments.complain(
          fmt::format("quiet={}: give two different times of the day, such as 22:00-06:00", arguments.text("quiet")));
  }
}

}  // namespace parshall
