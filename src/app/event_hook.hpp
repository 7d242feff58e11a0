// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "app/command_runner.hpp"

namespace parshall::cli {

/// Runs a command for events. The event is in PARSHALL_EVENT as JSON, its task in PARSHALL_TASK. PARSHALL_LEFT_OUT
/// counts the events since the last run that had no run of their own. The command writes to standard error.
///
/// One command runs at a time, and starts no sooner than `least` after the previous start. An event that comes sooner
/// is left out.
class EventHook {
 public:
  /// Says if an event waits for a command that is still running, or is left out.
  enum class Busy : std::uint8_t { leaves_out, waits };

  /// Returns the mode for packets from this file. A pipe's writer must not be blocked, and neither must a source that
  /// is no file, so those leave events out.
  static Busy busy_for(const std::string& file);

  /// `stops` may be called from any thread; true ends all waiting.
  EventHook(std::unique_ptr<CommandRunner> runner, std::chrono::nanoseconds least, Busy busy,
            std::function<bool()> stops)
      : runner_(std::move(runner)), least_(least), busy_(busy), stops_(std::move(stops)) {}

  ~EventHook() { finish(); }

  /// Waits for the last command if this hook waits. Otherwise ends a command that still runs after two seconds, within
  /// another second.
  void finish();

  void event(std::string_view task, const std::string& json);

  std::uint64_t runs() const noexcept { return runs_; }
  std::uint64_t left_out() const noexcept { return left_out_; }  ///< events without a run, in total
  std::uint64_t failed() const noexcept { return failed_; }      ///< not started, or nonzero status

  /// Checks if a command has ended.
  void look() { (void)is_running(); }

  /// Returns how the last command that ended has failed; empty if it succeeded.
  const std::string& failure() const noexcept { return failure_; }

 private:
  using Clock = std::chrono::steady_clock;

  bool is_running();
  bool waits() const { return busy_ == Busy::waits && !stops_(); }
  void fail(std::string how);

  std::unique_ptr<CommandRunner> runner_;
  std::chrono::nanoseconds least_;
  Busy busy_;
  std::function<bool()> stops_;
  std::string failure_;
  bool runs_one_ = false;
  Clock::time_point began_;
  std::uint64_t runs_ = 0, left_out_ = 0, left_out_since_run_ = 0, failed_ = 0;
};

}  // namespace parshall::cli
