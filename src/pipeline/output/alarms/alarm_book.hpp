// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/measure/tasks/registry.hpp"
#include "pipeline/output/alarms/alarm.hpp"

namespace parshall {

/// Turns findings into alarms that begin, go on and end.
///
/// An alarm ends once its task had no finding about its key for AlarmRules::hold_off_ns. That is noticed at the next
/// event of a task with windows of the same length, so it depends on the packets alone. On a link it is also noticed by
/// the clock, but not for windows of packets, which may take any time.
///
/// Memory: memory_bytes().
/// Full:   each task has room for its own open alarms, so that one flooded task hides none of another. Findings without
///         room are counted.
class AlarmBook {
 public:
  static constexpr std::size_t kMostOpen = 1000, kOpenBytes = std::size_t{2} << 20;  ///< of a task
  static constexpr std::size_t kMostEnded = 1000, kEndedBytes = std::size_t{2} << 20;

  using Clock = std::chrono::steady_clock;
  using Tell = std::function<void(const Alarm&)>;

  /// `by_clock`: whether packets come from a link.
  AlarmBook(const TaskSets& tasks, bool by_clock);

  // For one thread. Each tells of the alarms that began or ended:

  void take(const Event& event, const Tell& tell);
  void pass_time(Clock::time_point now, const Tell& tell);
  /// Ends the run, whose last packet came at `last_ns`. Tells of all alarms that have not ended.
  void end_run(std::uint64_t last_ns, const Tell& tell);

  // For any thread:

  /// Returns at most `most` alarms of those that are `wanted`: open ones first, of these the most severe, and the
  /// latest.
  AlarmList list(
      std::size_t most = kMostOpen + kMostEnded,
      const std::function<bool(const Alarm&)>& wanted = [](const Alarm&) { return true; }) const;
  /// Returns how many alarms each task has open, and has begun.
  std::vector<AlarmCount> counts() const;
  std::uint64_t memory_bytes() const noexcept;

 private:
  struct Of {
    std::size_t task;
    const KeyPart* part;
    FlowKey key;

    bool operator<(const Of& other) const noexcept;
  };
  struct Open {
    Alarm alarm;
    std::uint64_t first_window, last_window;
    Clock::time_point seen;
  };
  struct TaskAlarms {
    std::string name;
    AlarmRules rules;
    WindowLength length;
    std::size_t open = 0, bytes = 0;
    std::uint64_t begun = 0;
  };
  using OpenAlarms = std::map<Of, Open>;

  template <class IsOver>
  void end_some(const IsOver& is_over, std::vector<Alarm>& changes);
  void find(const Event& event, std::vector<Alarm>& changes);
  void go_on(Open& open, const Event& event) const;
  bool is_new_window(const EventWindow& window);
  bool begin(const Of& of, const Event& event);
  static bool is_over(const Alarm& alarm, const AlarmRules& rules, std::uint64_t reached_ns) noexcept;

  const bool by_clock_;
  std::vector<TaskAlarms> tasks_;
  std::vector<std::pair<WindowLength, std::uint64_t>> latest_windows_;  ///< number by length
  Clock::time_point looked_{};

  mutable std::mutex mutex_;
  OpenAlarms open_;
  FindingList<Alarm> ended_{kMostEnded, kEndedBytes};
  std::uint64_t left_out_ = 0;
};

}  // namespace parshall
