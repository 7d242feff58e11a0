// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <unistd.h>

#include <string>

#include "base/result.hpp"
#include "cli/exit_status.hpp"

namespace parshall::cli {

/// One line on standard error. A closed or full standard error must not end the program.
/// The command may be empty.
inline void say(const std::string& command, const std::string& line) noexcept {
  const std::string whole = "parshall" + (command.empty() ? "" : " " + command) + ": " + line + "\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, whole.data(), whole.size());
}

/// Says why a command ends, with which status.
inline int fail(const std::string& command, const Error& error, ExitStatus status) {
  say(command, error.message);
  return status;
}

}  // namespace parshall::cli
