// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file_handle.hpp"
#include "base/result.hpp"
#include "monitor/privileges.hpp"

namespace parshall::cli {

/// A process of its own that runs commands, by /bin/sh, for one that may run none: begun before that gave up its
/// rights. One command at a time; what it writes goes to standard error. It ends with who began it.
class CommandRunner {
 public:
  /// While there is no other thread. Its rights are those of `kept`: of no more than who began it.
  static Result<std::unique_ptr<CommandRunner>> begin(const std::string& command, const Privileges& kept);
  ~CommandRunner();
  CommandRunner(const CommandRunner&) = delete;
  CommandRunner& operator=(const CommandRunner&) = delete;

  /// With these variables, NAME=VALUE each, beside those that there are. Whether it was asked to: if so, ended() is to
  /// be asked until it says so.
  bool run(const std::vector<std::string>& variables);

  /// Whether the command has ended since run(): with its status, as wait() tells; -1 where it could not begin.
  std::optional<int> ended();

  /// To the command and all that it began.
  void signal(int number);

 private:
  CommandRunner(pid_t process, FileHandle socket) : process_(process), socket_(std::move(socket)) {}

  pid_t process_;
  FileHandle socket_;
};

}  // namespace parshall::cli
