// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace parshall::tester {

/// How a child process ended.
struct ChildEnd {
  int exit_status = 0;
  int signal = 0;  ///< that ended it; 0: it ended by itself

  std::string text() const;
};

/// A command that runs beside, without a shell: what it writes to standard output and standard error goes to a file. It
/// has a process group of its own, so that Ctrl-C is ours, which signals go to; all of it is killed when the command
/// has ended, when it goes out of scope, or when we die.
class Child {
 public:
  static Result<Child> start(const std::vector<std::string>& words);

  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  ~Child();

  pid_t pid() const noexcept { return pid_; }

  /// Whether it has ended, and how. Asks the system once.
  std::optional<ChildEnd> poll() noexcept;
  /// Waits for its end, so long at most.
  std::optional<ChildEnd> wait(std::chrono::milliseconds most, const std::function<bool()>& stop);
  void send(int signal) const noexcept;

  /// All that it has written.
  std::string output() const;
  /// The last of it, for a message.
  std::string last_words() const;

 private:
  Child(pid_t pid, int output) noexcept : pid_(pid), output_(output) {}

  pid_t pid_;   ///< -1: moved away
  int output_;  ///< a file without a name
  std::optional<ChildEnd> end_;
};

/// Runs a command to its end; its output. An error where it fails or takes longer.
Result<std::string> run_child(const std::vector<std::string>& words, std::chrono::milliseconds most,
                              const std::function<bool()>& stop = {});

/// As typed.
std::string joined(const std::vector<std::string>& words);

}  // namespace parshall::tester
