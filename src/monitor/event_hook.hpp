// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "monitor/command_runner.hpp"

namespace parshall::cli {

/// A command that is run for events, with the event in PARSHALL_EVENT as JSON, its task in PARSHALL_TASK,
/// and in PARSHALL_LEFT_OUT how many came since the last run that no command was run for. What it writes goes to
/// standard error.
///
/// Never waits: one command runs at a time, and none sooner than `least` after the one before began.
class EventHook {
 public:
  EventHook(std::unique_ptr<CommandRunner> runner, std::chrono::nanoseconds least)
      : runner_(std::move(runner)), least_(least) {}

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

  std::unique_ptr<CommandRunner> runner_;
  std::chrono::nanoseconds least_;
  bool runs_one_ = false;
  Clock::time_point began_;
  std::uint64_t runs_ = 0, left_out_ = 0, left_out_since_run_ = 0, failed_ = 0;
};

}  // namespace parshall::cli
