// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/command_runner.hpp"
#include "pipeline/output/exporter.hpp"

namespace parshall::cli {

/// Runs a command when an alarm begins and when it ends, one at a time, in their order. An alarm whose command failed,
/// or that had no run because the monitor stopped, counts as dropped. The command writes to standard error.
class AlarmHook final : public Exporter {
 public:
  static constexpr std::chrono::seconds kLongest{60};

  /// `stops` may be called from any thread; true ends all waiting but two seconds. A command that runs for `longest` is
  /// ended.
  AlarmHook(std::unique_ptr<CommandRunner> runner, std::function<bool()> stops,
            std::chrono::milliseconds longest = kLongest)
      : runner_(std::move(runner)), stops_(std::move(stops)), longest_(longest) {}

  void alarm(const Alarm& alarm) override;
  /// Waits for the last command. Once the monitor stops, ends it after two seconds.
  void finish() override;
  FlushOutcome flush() override;

  std::uint64_t runs() const noexcept { return runs_; }
  std::uint64_t not_run() const noexcept { return not_run_; }  ///< alarms that had no run
  std::uint64_t failed() const noexcept { return failed_; }    ///< not started, or nonzero status

 private:
  using Clock = std::chrono::steady_clock;

  bool is_running();
  void end_command();
  void wait_for_command();
  void note_stop(Clock::time_point now);
  void fail(std::string how);

  std::unique_ptr<CommandRunner> runner_;
  std::function<bool()> stops_;
  std::chrono::milliseconds longest_;
  std::string failure_;  ///< of the last command that ended
  bool runs_one_ = false;
  Clock::time_point began_;
  std::optional<Clock::time_point> stopped_;  ///< when the monitor was found to stop
  std::uint64_t runs_ = 0, not_run_ = 0, failed_ = 0, told_ = 0;
};

}  // namespace parshall::cli
