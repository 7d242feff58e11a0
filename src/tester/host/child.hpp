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
  int signal = 0;  ///< that ended it; 0: it ended by itself

  bool is_good() const noexcept { return signal == 0 && exit_status == 0; }
  std::string text() const;
};

/// A command that runs beside, without a shell: what it reads and writes are files without a name. It has a process
/// group of its own, so that Ctrl-C is ours, which signals go to; all of it is killed when the command has ended, or
/// when this goes out of scope. The command itself is killed when the thread that started it ends, whatever ends it.
class Child {
 public:
  /// Where standard error goes.
  enum class Errors : std::uint8_t { with_output, apart, ours };

  static Result<Child> start(const Words& words, Errors errors = Errors::with_output, std::string_view input = {});

  /// One whose standard input is what say() writes.
  static Result<Child> start_to_talk(const Words& words, Errors errors = Errors::with_output);

  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  ~Child();

  pid_t pid() const noexcept { return pid_; }

  /// Whether it has ended, and how. Asks the system once.
  std::optional<ChildEnd> poll() noexcept;
  /// Waits for its end, so long at most.
  std::optional<ChildEnd> wait(std::chrono::milliseconds most, const std::function<bool()>& stop = {});
  bool is_running() const noexcept;
  void send(int signal) const noexcept;
  /// Writes to its standard input; false where it does not read any more.
  bool say(std::string_view text) const noexcept;

  /// All that it has written.
  std::string output() const;
  /// The last of it for a message; of its errors where they are apart.
  std::string last_words() const;

 private:
  Child(pid_t pid, FileHandle output, FileHandle errors) noexcept
      : pid_(pid), output_(std::move(output)), errors_(std::move(errors)) {}
  static Result<Child> start(const Words& words, Errors errors, const FileHandle& input);

  pid_t pid_;  ///< -1: moved away
  FileHandle output_, errors_;
  FileHandle talk_;  ///< the other end of its standard input; none: that is a file
  std::optional<ChildEnd> end_;
};

/// Runs a command to its end, and returns its standard output. An error where it fails or takes longer: the message has
/// what it said last.
Result<std::string> run_command(const Words& words, std::string_view input = {},
                                std::chrono::milliseconds most = std::chrono::seconds(30),
                                const std::function<bool()>& stop = {});

/// As typed.
std::string joined(const Words& words);

/// This program's file, to be run again.
Result<std::string> own_path();

/// parshall itself: the file beside this program's, else by PATH.
Result<std::string> monitor_path();

}  // namespace parshall::tester
