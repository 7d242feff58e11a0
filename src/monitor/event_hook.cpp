// SPDX-License-Identifier: Apache-2.0
#include "monitor/event_hook.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

namespace parshall::cli {
namespace {

constexpr std::chrono::seconds kGrace{2}, kLastGrace{1};
constexpr std::chrono::milliseconds kTick{10};

/// In a process group of its own, so that Ctrl-C ends the monitor alone. 0 where it cannot be run.
pid_t run(const std::string& command, const std::vector<std::string>& variables) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t usual;
  sigemptyset(&usual);
  sigaddset(&usual, SIGINT);
  sigaddset(&usual, SIGTERM);
  sigaddset(&usual, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> environment;
  for (const std::string& variable : variables) environment.push_back(const_cast<char*>(variable.c_str()));
  for (char** inherited = environ; *inherited != nullptr; ++inherited)
    if (!std::string_view(*inherited).starts_with("PARSHALL_")) environment.push_back(*inherited);
  environment.push_back(nullptr);
  char shell[] = "sh", from_text[] = "-c";
  char* const arguments[] = {shell, from_text, const_cast<char*>(command.c_str()), nullptr};
  pid_t child = 0;
  if (::posix_spawn(&child, "/bin/sh", &files, &attributes, arguments, environment.data()) != 0) child = 0;
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return child;
}

}  // namespace

void EventHook::finish() {
  const auto wait = [this](std::chrono::seconds most) {
    const auto until = Clock::now() + most;
    while (is_running() && Clock::now() < until) std::this_thread::sleep_for(kTick);
  };
  wait(kGrace);
  if (child_ == 0) return;
  ::kill(-child_, SIGTERM);
  wait(kLastGrace);
  if (child_ == 0) return;
  ::kill(-child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
  child_ = 0;
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
  child_ = run(command_, {"PARSHALL_EVENT=" + json, fmt::format("PARSHALL_TASK={}", task),
                          fmt::format("PARSHALL_LEFT_OUT={}", left_out_since_run_)});
  failed_ += child_ == 0;
  left_out_since_run_ = 0;
}

bool EventHook::is_running() {
  int status = 0;
  if (child_ == 0 || ::waitpid(child_, &status, WNOHANG) == 0) return child_ != 0;
  failed_ += status != 0;
  child_ = 0;
  return false;
}

}  // namespace parshall::cli
