// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/networks.hpp"
#include "pipeline/measure/tasks/arguments.hpp"

namespace parshall {

enum class Severity : std::uint8_t { info, warning, critical };

inline constexpr std::array<std::string_view, 3> kSeverities{"info", "warning", "critical"};
constexpr std::string_view name_of(Severity severity) noexcept {
  return kSeverities[static_cast<std::size_t>(severity)];
}

/// Part of each day, which may span midnight.
struct TimeOfDay {
  unsigned begin_min = 0, end_min = 0;  ///< minutes since midnight, local time; the end is not part of it

  /// Parses "22:00-06:30".
  static std::optional<TimeOfDay> parse(const std::string& text);
  bool has(std::uint64_t time_ns) const;  ///< ns since 1970
};

/// Which findings of a task become alarms, how these end, and who is told.
struct AlarmRules {
  Severity severity = Severity::warning;
  std::uint64_t hold_off_ns = 60'000'000'000;  ///< time without a finding after which an alarm ends
  std::uint64_t min_packets = 100;             ///< fewest packets of a key in a window
  std::uint64_t min_bps = 100'000;             ///< lowest rate of a key in a window, in bit/s on the wire
  Networks muted;                              ///< hosts whose alarms no receiver gets
  std::optional<TimeOfDay> quiet;              ///< hours in which receivers get only critical alarms

  /// Returns those of a condition that the user wrote, which says itself what matters, or of a task for which any
  /// traffic does.
  static AlarmRules without_floors() { return {.min_packets = 0, .min_bps = 0, .muted = {}, .quiet = {}}; }

  /// Takes the parameters that are given, and leaves the others as they are.
  void take(Arguments& arguments);
};

/// Parameters of AlarmRules.
inline constexpr Parameter kAlarmParameters[] = {
    {"severity", "", "of its alarms: info, warning or critical (default: the task's own)"},
    {"hold-off", "60s", "an alarm ends after this time without a finding"},
    {"min-packets", "", "no alarm for fewer packets of a key in a window (default: 100; of a condition 0)"},
    {"min-rate", "", "no alarm for fewer bit/s of a key in a window (default: 100k; of a condition 0)"},
    {"mute", "", "no receiver gets alarms about these networks: 10.0.0.5+10.1.0.0/16"},
    {"quiet", "", "hours in which receivers get only critical alarms: 22:00-06:00, local time"},
};

}  // namespace parshall
