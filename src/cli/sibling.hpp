// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace parshall::cli {

inline constexpr std::string_view kMainProgram = "parshall";

/// A program of this project that parshall becomes where a command is that program's, as git does.
struct Sibling {
  std::string_view program;  ///< its file
  std::string_view command;
  std::string_view help;
  std::array<std::string_view, 2> topics;  ///< of list, that it alone knows; an empty one is none
};

/// Every one there is.
std::span<const Sibling> siblings() noexcept;

/// Becomes the sibling whose command the words are: the file beside this one, else in PATH. Comes back only where it is
/// nobody's, with nothing, or where there is no such file, with an exit status, after saying so.
std::optional<int> become_sibling(int argc, char** argv);

}  // namespace parshall::cli
