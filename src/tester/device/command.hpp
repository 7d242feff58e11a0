// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.hpp"

namespace parshall::tester {

using Words = std::vector<std::string>;

/// Runs a program of the system's path to its end, without a shell, and returns what it wrote to standard output.
///
/// Error: it is not there, ends with another status than 0, or takes longer than half a minute: the message has what it
///        said last.
Result<std::string> run_command(const Words& words, const std::string& input = {});

/// A program that runs beside this one, until it is stopped.
class ChildProcess {
 public:
  /// Its standard output goes to a pipe, its standard error to ours.
  static Result<ChildProcess> start(const Words& words);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();

  /// Asks it to end (SIGINT), and returns all that it wrote to standard output. One that does not end within ten
  /// seconds is ended.
  Result<std::string> stop();

  /// Whether it has not ended.
  bool is_running() const noexcept;

 private:
  ChildProcess(pid_t id, int output, std::string name) : id_(id), output_(output), name_(std::move(name)) {}

  pid_t id_ = -1;
  int output_ = -1;
  std::string name_;
};

}  // namespace parshall::tester
