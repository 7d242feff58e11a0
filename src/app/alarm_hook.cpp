// SPDX-License-Identifier: Apache-2.0
#include "app/alarm_hook.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "pipeline/output/json/alarm_json.hpp"
#include "pipeline/output/text/alarm_text.hpp"

namespace parshall::cli {
namespace {

constexpr std::chrono::seconds kGrace{2}, kLastGrace{1};
constexpr std::chrono::microseconds kTick{200};

std::string how_it_ended(int status) {
  if (WIFEXITED(status)) return fmt::format("the command ended with status {}", WEXITSTATUS(status));
  if (WIFSIGNALED(status)) return fmt::format("the command was ended by signal {}", WTERMSIG(status));
  return "the command could not be started";
}

}  // namespace

void AlarmHook::alarm(const Alarm& alarm) {
  wait_for_command();
  const auto now = Clock::now();
  note_stop(now);
  if (stopped_ && now - *stopped_ >= kGrace) {
    ++not_run_;
    return;
  }
  began_ = now;
  ++runs_;
  const std::string json = alarm_json(alarm), text = alarm_text(alarm);
  runs_one_ = runner_->run({.alarm = json, .text = text, .state = name_of(alarm.state)});
  if (!runs_one_) fail("the command could not be started");
}

void AlarmHook::finish() { wait_for_command(); }

/// Waits for the command that runs, and ends it if it takes too long.
void AlarmHook::wait_for_command() {
  const auto is_over = [this](Clock::time_point now) {
    note_stop(now);
    return stopped_ ? now - std::max(*stopped_, began_) >= kGrace : now - began_ >= longest_;
  };
  while (is_running() && !is_over(Clock::now())) std::this_thread::sleep_for(kTick);
  if (runs_one_) end_command();
}

void AlarmHook::note_stop(Clock::time_point now) {
  if (!stopped_ && stops_()) stopped_ = now;
}

/// Ends the command that runs, and what it started.
void AlarmHook::end_command() {
  const auto wait = [this] {
    const auto until = Clock::now() + kLastGrace;
    while (is_running() && Clock::now() < until) std::this_thread::sleep_for(kTick);
    return !runs_one_;
  };
  runner_->end();
  if (wait()) return;
  runner_->kill();
  if (wait()) return;
  runs_one_ = false;
  fail("the command did not end");
}

FlushOutcome AlarmHook::flush() {
  (void)is_running();
  const std::uint64_t without = failed_ + not_run_;
  FlushOutcome outcome;
  outcome.trouble = failure_;
  outcome.not_sent.findings = without - std::exchange(told_, without);
  return outcome;
}

void AlarmHook::fail(std::string how) {
  ++failed_;
  failure_ = std::move(how);
}

bool AlarmHook::is_running() {
  if (!runs_one_) return false;
  const auto status = runner_->ended();
  if (!status) return true;
  runs_one_ = false;
  failure_.clear();
  if (*status != 0) fail(how_it_ended(*status));
  return false;
}

}  // namespace parshall::cli
