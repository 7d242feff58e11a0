// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "app/live/terminal.hpp"
#include "base/own_file.hpp"
// clang-format off: last, because term.h defines macros such as `lines` and `columns`
#include <curses.h>
#include <term.h>
// clang-format on

namespace parshall::live {
namespace {

/// Finds the description of the terminal. A machine without any is served by those of a portable install, which are in
/// PREFIX/share/terminfo for a program in PREFIX/lib/parshall/ISA.
bool find_terminal() {
  int found = 0;
  if (::setupterm(nullptr, STDOUT_FILENO, &found) == OK) return true;
  const std::filesystem::path own = own_file().parent_path() / "../../../share/terminfo";
  std::error_code none;
  if (!std::filesystem::is_directory(own, none)) return false;
  const char* const others = std::getenv("TERMINFO_DIRS");
  const std::string folders = fmt::format("{}{}", others == nullptr ? "" : fmt::format("{}:", others),
                                          std::filesystem::canonical(own, none).string());
  ::setenv("TERMINFO_DIRS", folders.c_str(), 1);
  return ::setupterm(nullptr, STDOUT_FILENO, &found) == OK;
}

}  // namespace

std::optional<TerminalError> check_terminal() {
  if (::isatty(STDOUT_FILENO) == 0)
    return TerminalError{TerminalFault::not_a_terminal,
                         {"--live needs a terminal, but standard output is not one; leave out --live, or write the "
                          "final report with -o FILE and do not redirect"}};
  const char* const name = std::getenv("TERM");
  const std::string shown = name == nullptr ? "" : printable(name, Glyphs::ascii);
  if (!find_terminal())
    return TerminalError{
        TerminalFault::unknown_terminal,
        {fmt::format("the terminal \"{}\" is unknown here; set TERM to a known one, such as xterm or vt100, "
                     "or leave out --live",
                     shown)}};
  const bool can_move = cursor_address != nullptr && clear_screen != nullptr;
  ::del_curterm(cur_term);
  if (!can_move)
    return TerminalError{TerminalFault::unknown_terminal,
                         {fmt::format("the terminal \"{}\" cannot move its cursor; leave out --live", shown)}};
  return std::nullopt;
}

}  // namespace parshall::live
