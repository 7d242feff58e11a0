// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "monitor/command_runner.hpp"

namespace parshall::cli {

/// A command that is run for events, with the event in PARSHALL_EVENT as JSON, its task in PARSHALL_TASK,
/// and in PARSHALL_LEFT_OUT how many came since the last run that no command was run for. What it writes goes to
/// standard error.
///
/// One command runs at a time, and none sooner than `least` after the one before began: an event that comes sooner is
/// left out.
class EventHook {
 public:
  /// What an event does while the command of the one before it runs.
  enum class Busy : std::uint8_t { leaves_out, waits };

  /// Returns what suits packets of this file: the writer of a pipe may not wait, and neither does what is no file.
  static Busy busy_for(const std::string& file);

  /// `stops`, from any thread: nothing is waited for any more.
  EventHook(std::unique_ptr<CommandRunner> runner, std::chrono::nanoseconds least, Busy busy,
            std::function<bool()> stops)
      : runner_(std::move(runner)), least_(least), busy_(busy), stops_(std::move(stops)) {}

  ~EventHook() { finish(); }

  /// Waits for the last command, if it waits for any. Otherwise ends one that is still running after two seconds, at
  /// the latest a second later.
  void finish();

  void event(std::string_view task, const std::string& json);

  std::uint64_t runs() const noexcept { return runs_; }
  std::uint64_t left_out() const noexcept { return left_out_; }  ///< events without a run, in all
  std::uint64_t failed() const noexcept { return failed_; }      ///< runs that could not begin, or ended with a status

  /// Notices that a command has ended.
  void look() { (void)is_running(); }

  /// Returns how the last command that ended has failed; empty where it did not.
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
