// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "app/live/terminal.hpp"
// clang-format off: last, because term.h defines macros such as `lines` and `columns`
#include <curses.h>
#include <term.h>
// clang-format on

namespace parshall::live {

std::optional<TerminalError> check_terminal() {
  if (::isatty(STDOUT_FILENO) == 0)
    return TerminalError{TerminalFault::not_a_terminal,
                         {"--live needs a terminal, but standard output is not one; leave out --live, or write the "
                          "final report with -o FILE and do not redirect"}};
  const char* const name = std::getenv("TERM");
  const std::string shown = name == nullptr ? "" : printable(name, Glyphs::ascii);
  int found = 0;
  if (::setupterm(nullptr, STDOUT_FILENO, &found) != OK)
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
