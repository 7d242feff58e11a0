// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_handle.hpp"
#include "base/result.hpp"

namespace parshall::tester {

using Words = std::vector<std::string>;

/// How a child process ended.
struct ChildEnd {
  int exit_status = 0;
  int signal = 0;  ///< signal that ended it; 0: it exited by itself

  bool is_good() const noexcept { return signal == 0 && exit_status == 0; }
  std::string text() const;
};

/// Runs a command in parallel, without a shell; its input and output are unnamed files. It has a process group of its
/// own, so Ctrl-C reaches only this program. The whole group is killed when the command has ended, or when this object
/// is destroyed. The command itself is killed when the thread that started it ends for any reason.
class Child {
 public:
  /// Destination of standard error.
  enum class Errors : std::uint8_t { with_output, apart, ours };

  static Result<Child> start(const Words& words, Errors errors = Errors::with_output, std::string_view input = {});

  /// Starts a command whose standard input comes from say().
  static Result<Child> start_to_talk(const Words& words, Errors errors = Errors::with_output);

  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  ~Child();

  pid_t pid() const noexcept { return pid_; }

  /// Checks once if the command has ended, and returns how.
  std::optional<ChildEnd> poll() noexcept;
  /// Waits at most this long for its end.
  std::optional<ChildEnd> wait(std::chrono::milliseconds most, const std::function<bool()>& stop = {});
  bool is_running() const noexcept;
  void send(int signal) const noexcept;
  /// Writes to its standard input; returns false if the command no longer reads.
  bool say(std::string_view text) const noexcept;

  /// Returns all output so far.
  std::string output() const;
  /// Returns the end of its output for a message; the end of its errors if they are separate.
  std::string last_words() const;

 private:
  Child(pid_t pid, FileHandle output, FileHandle errors) noexcept
      : pid_(pid), output_(std::move(output)), errors_(std::move(errors)) {}
  static Result<Child> start(const Words& words, Errors errors, const FileHandle& input);

  pid_t pid_;  ///< -1: moved from
  FileHandle output_, errors_;
  FileHandle talk_;  ///< other end of its standard input; unset: a file
  std::optional<ChildEnd> end_;
};

/// Runs a command to its end, and returns its standard output. Error: it fails or takes longer; the message includes
/// its last output.
Result<std::string> run_command(const Words& words, std::string_view input = {},
                                std::chrono::milliseconds most = std::chrono::seconds(30),
                                const std::function<bool()>& stop = {});

/// Joins the words of a command as typed.
std::string joined(const Words& words);

/// Returns the path of this program, to run it again.
Result<std::string> own_path();

/// Returns the path of parshall: the file beside this program, else one in PATH.
Result<std::string> monitor_path();

}  // namespace parshall::tester
