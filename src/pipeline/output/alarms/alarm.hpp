// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/measure/tasks/alarm_rules.hpp"
#include "pipeline/measure/tasks/event.hpp"
#include "pipeline/measure/tasks/finding_list.hpp"

namespace parshall {

/// Largest value of each stretch of windows since an alarm began, for a picture.
///
/// Shape: at most kMost stretches; once they are used up, they become twice as long.
class AlarmHistory {
 public:
  static constexpr std::size_t kMost = 64;

  /// Adds a value of window `number`, counted from the alarm's first.
  void add(std::uint64_t number, double value) {
    while (number / stretch_ >= kMost) {
      for (std::size_t i = 0; i < values_.size(); i += 2)
        values_[i / 2] = i + 1 < values_.size() ? std::max(values_[i], values_[i + 1]) : values_[i];
      values_.resize((values_.size() + 1) / 2);
      stretch_ *= 2;
    }
    const std::size_t at = number / stretch_;
    if (values_.size() <= at) values_.resize(at + 1);
    values_[at] = std::max(values_[at], static_cast<float>(value));
  }

  const std::vector<float>& values() const noexcept { return values_; }  ///< 0 where nothing was found
  std::uint64_t stretch() const noexcept { return stretch_; }            ///< in windows

 private:
  std::vector<float> values_;
  std::uint64_t stretch_ = 1;
};

/// Findings of a task about one key, from the first window to the last, with gaps shorter than AlarmRules::hold_off_ns.
struct Alarm {
  /// What has just happened to it: `unmuted`: its quiet hours are over. `open`: the run ended before it did.
  enum class State : std::uint8_t { began, unmuted, ended, open };

  /// Why receivers are not told.
  enum class Muted : std::uint8_t { no, network, quiet_hours };

  std::uint64_t id = 0;  ///< from task, key and beginning, so it is the same in every run over the same packets
  State state = State::began;
  Severity severity = Severity::warning;
  Muted muted = Muted::no;
  std::uint64_t begin_ns = 0, end_ns = 0;   ///< packet time: of its first window and its last
  std::uint64_t windows = 0, findings = 0;  ///< windows with a finding, and their findings
  double peak = 0;                          ///< largest of the value that the task is about
  Event latest;
  AlarmHistory history = {};

  bool is_over() const noexcept { return state == State::ended; }
  double seconds() const noexcept { return static_cast<double>(end_ns - begin_ns) / 1e9; }
};

constexpr std::string_view name_of(Alarm::State state) noexcept {
  constexpr std::array<std::string_view, 4> kNames{"began", "unmuted", "ended", "open"};
  return kNames[static_cast<std::size_t>(state)];
}
constexpr std::string_view name_of(Alarm::Muted muted) noexcept {
  constexpr std::array<std::string_view, 3> kNames{"no", "network", "quiet hours"};
  return kNames[static_cast<std::size_t>(muted)];
}

inline std::size_t heap_bytes(const Alarm& alarm) noexcept {
  return heap_bytes(alarm.latest) + alarm.history.values().capacity() * sizeof(float);
}

/// Number of alarms of a task.
struct AlarmCount {
  std::string task;
  std::uint64_t open = 0, begun = 0;
};

/// Alarms of a run, for a report.
struct AlarmList {
  std::vector<Alarm> alarms;  ///< open ones and the latest that ended, in order of their beginnings
  std::uint64_t begun = 0;    ///< all of the run
  std::uint64_t open = 0;
  std::uint64_t left_out = 0;  ///< findings that began none, for lack of room
};

}  // namespace parshall
