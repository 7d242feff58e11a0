// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>
#include <unistd.h>

#include <string>

#include "base/escaped.hpp"
#include "base/result.hpp"
#include "cli/exit_status.hpp"

namespace parshall::cli {

/// Writes to standard error; if that is closed or full, the program goes on.
inline void write_error_text(const std::string& text) noexcept {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

/// Writes a single line to standard error, escaping file names in it. The command may be empty.
inline void say(const std::string& command, const std::string& line) noexcept {
  write_error_text(fmt::format("parshall{}{}: {}\n", command.empty() ? "" : " ", command, escaped(line)));
}

/// Reports why a command ends, and returns its status.
inline int fail(const std::string& command, const Error& error, ExitStatus status) {
  say(command, error.message);
  return status;
}

}  // namespace parshall::cli
