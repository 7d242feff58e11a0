// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace parshall::cli {

inline constexpr std::string_view kMainProgram = "parshall";

/// A program of this project that parshall executes for some commands, as git does.
struct Sibling {
  std::string_view program;  ///< name of its file
  std::string_view command;
  std::string_view help;
  /// A topic of `list` that only the program knows; unused where the name is empty.
  struct Topic {
    std::string_view name, help;
  };
  std::array<Topic, 3> topics;
};

/// Lists all siblings.
std::span<const Sibling> siblings() noexcept;

/// Executes the sibling whose command the words name: the file beside this one, else one in PATH. Returns nullopt if no
/// sibling has the command. If the file is missing, reports that and returns an exit status.
std::optional<int> become_sibling(int argc, char** argv);

}  // namespace parshall::cli
