// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "app/privileges.hpp"
#include "base/file_handle.hpp"
#include "base/result.hpp"

namespace parshall::cli {

/// Alarm that a command is run for; passed as PARSHALL_ALARM, PARSHALL_TEXT and PARSHALL_STATE in its environment. Each
/// is cut at its first NUL.
struct CommandAlarm {
  std::string_view alarm, text, state;
};

/// Runs one command through /bin/sh in a helper process. The helper is started before the monitor drops its privileges,
/// since the monitor itself may start no program afterwards. The command writes to standard error. The helper ends with
/// the process that started it.
///
/// An attacker who controls the monitor can only make the helper run or end the command that was given at the start,
/// one at a time, with other values of those three variables. The values are data from the network in any case.
class CommandRunner {
 public:
  /// Starts the helper; call it while the process has a single thread. The helper's privileges are those in `kept`, at
  /// most those of the caller.
  static Result<std::unique_ptr<CommandRunner>> begin(const std::string& command, const Privileges& kept);
  ~CommandRunner();
  CommandRunner(const CommandRunner&) = delete;
  CommandRunner& operator=(const CommandRunner&) = delete;

  /// Asks the helper to run the command; returns false if that failed. After true, poll ended() until it returns a
  /// value before the next run().
  bool run(const CommandAlarm& alarm);

  /// Returns the wait() status of the command once it has ended, or -1 if it could not start; nullopt while it runs.
  std::optional<int> ended();

  /// Sends SIGTERM to the command and all processes it started; kill() sends SIGKILL.
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
