// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/file_handle.hpp"
#include "base/result.hpp"
#include "monitor/privileges.hpp"

namespace parshall::cli {

/// What a command is run for: PARSHALL_EVENT, PARSHALL_TASK and PARSHALL_LEFT_OUT in its environment.
struct CommandEvent {
  std::string_view event, task;  ///< up to their first NUL, if they have one
  std::uint64_t left_out = 0;
};

/// A process of its own that runs one command, by /bin/sh, for one that may run none: begun before that gave up its
/// rights. What the command writes goes to standard error. It ends with who began it.
///
/// Who has taken that one over can have it do no more than this: run the command that was told at the start, once at a
/// time, with values of its own in those three variables; and end it. The values are data of an event in any case.
class CommandRunner {
 public:
  /// While there is no other thread. Its rights are those of `kept`: of no more than who began it.
  static Result<std::unique_ptr<CommandRunner>> begin(const std::string& command, const Privileges& kept);
  ~CommandRunner();
  CommandRunner(const CommandRunner&) = delete;
  CommandRunner& operator=(const CommandRunner&) = delete;

  /// Whether it was asked to: if so, ended() is to be asked until it says so, and it is run again only then.
  bool run(const CommandEvent& event);

  /// Whether the command has ended since run(): with its status, as wait() tells; -1 where it could not begin.
  std::optional<int> ended();

  /// SIGTERM to the command and all that it began; SIGKILL.
  void end() { send(kEnd); }
  void kill() { send(kKill); }

 private:
  static constexpr char kEnd = 'e', kKill = 'k';

  CommandRunner(pid_t process, FileHandle socket) : process_(process), socket_(std::move(socket)) {}
  void send(char order);

  friend class CommandServant;
  pid_t process_;
  FileHandle socket_;
};

}  // namespace parshall::cli
