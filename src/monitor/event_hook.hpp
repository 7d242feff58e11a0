// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace parshall::cli {

/// A command that is run for events: by /bin/sh, with the event in PARSHALL_EVENT as JSON, its task in PARSHALL_TASK,
/// and in PARSHALL_LEFT_OUT how many came since the last run that no command was run for. What it writes goes to
/// standard error.
///
/// Never waits: one command runs at a time, and none sooner than `least` after the one before began.
class EventHook {
 public:
  EventHook(std::string command, std::chrono::nanoseconds least) : command_(std::move(command)), least_(least) {}

  ~EventHook() { finish(); }

  /// Ends a command that is still running after two seconds, at the latest a second later.
  void finish();

  void event(std::string_view task, const std::string& json);

  std::uint64_t runs() const noexcept { return runs_; }
  std::uint64_t left_out() const noexcept { return left_out_; }  ///< events without a run, in all
  std::uint64_t failed() const noexcept { return failed_; }      ///< runs that could not begin, or ended with a status

 private:
  using Clock = std::chrono::steady_clock;

  bool is_running();

  std::string command_;
  std::chrono::nanoseconds least_;
  pid_t child_ = 0;  ///< 0: none runs
  Clock::time_point began_;
  std::uint64_t runs_ = 0, left_out_ = 0, left_out_since_run_ = 0, failed_ = 0;
};

}  // namespace parshall::cli
