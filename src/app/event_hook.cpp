// SPDX-License-Identifier: Apache-2.0
#include "app/event_hook.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <filesystem>
#include <system_error>
#include <thread>

namespace parshall::cli {
namespace {

constexpr std::chrono::seconds kGrace{2}, kLastGrace{1};
constexpr std::chrono::milliseconds kTick{10};
constexpr std::chrono::microseconds kShortTick{200};  ///< between commands for which events wait

std::string how_it_ended(int status) {
  if (WIFEXITED(status)) return fmt::format("the command ended with status {}", WEXITSTATUS(status));
  if (WIFSIGNALED(status)) return fmt::format("the command was ended by signal {}", WTERMSIG(status));
  return "the command could not be started";
}

}  // namespace

EventHook::Busy EventHook::busy_for(const std::string& file) {
  std::error_code wrong;
  return std::filesystem::is_regular_file(file, wrong) ? Busy::waits : Busy::leaves_out;
}

void EventHook::finish() {
  while (waits() && is_running()) std::this_thread::sleep_for(kTick);
  const auto wait = [this](std::chrono::seconds most) {
    const auto until = Clock::now() + most;
    while (is_running() && Clock::now() < until) std::this_thread::sleep_for(kTick);
  };
  wait(kGrace);
  if (!runs_one_) return;
  runner_->end();
  wait(kLastGrace);
  if (!runs_one_) return;
  runner_->kill();
  runs_one_ = false;
  fail("the command did not end");
}

void EventHook::fail(std::string how) {
  ++failed_;
  failure_ = std::move(how);
}

void EventHook::event(std::string_view task, const std::string& json) {
  while (waits() && is_running()) std::this_thread::sleep_for(kShortTick);
  const auto now = Clock::now();
  if (is_running() || (runs_ != 0 && now - began_ < least_)) {
    ++left_out_;
    ++left_out_since_run_;
    return;
  }
  began_ = now;
  ++runs_;
  runs_one_ = runner_->run({.event = json, .task = task, .left_out = left_out_since_run_});
  left_out_since_run_ = 0;
  if (!runs_one_) return fail("the command could not be started");
  while (waits() && is_running()) std::this_thread::sleep_for(kShortTick);
}

bool EventHook::is_running() {
  if (!runs_one_) return false;
  const auto status = runner_->ended();
  if (!status) return true;
  runs_one_ = false;
  failure_.clear();
  if (*status != 0) fail(how_it_ended(*status));
  return false;
}

}  // namespace parshall::cli
