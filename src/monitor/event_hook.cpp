// SPDX-License-Identifier: Apache-2.0
#include "monitor/event_hook.hpp"

#include <thread>

namespace parshall::cli {
namespace {

constexpr std::chrono::seconds kGrace{2}, kLastGrace{1};
constexpr std::chrono::milliseconds kTick{10};

}  // namespace

void EventHook::finish() {
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
  ++failed_;
}

void EventHook::event(std::string_view task, const std::string& json) {
  const auto now = Clock::now();
  if (is_running() || (runs_ != 0 && now - began_ < least_)) {
    ++left_out_;
    ++left_out_since_run_;
    return;
  }
  began_ = now;
  ++runs_;
  runs_one_ = runner_->run({.event = json, .task = task, .left_out = left_out_since_run_});
  failed_ += !runs_one_;
  left_out_since_run_ = 0;
}

bool EventHook::is_running() {
  if (!runs_one_) return false;
  const auto status = runner_->ended();
  if (!status) return true;
  failed_ += *status != 0;
  return runs_one_ = false;
}

}  // namespace parshall::cli
