// SPDX-License-Identifier: Apache-2.0
#define NCURSES_NOMACROS 1  // its function-like macros clash with the standard library
#include "app/live/terminal.hpp"

#include <curses.h>
#include <langinfo.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstring>

namespace parshall::live {
namespace {

constexpr int kEscapeMs = 25;  ///< how long the rest of a function key may take after Esc

enum Pair : short { kGood = 1, kWarning };

attr_t attributes_of(Style style, bool colours) noexcept {
  switch (style) {
    case Style::title:
      return A_REVERSE | A_BOLD;
    case Style::heading:
    case Style::cursor:
      return A_REVERSE;
    case Style::sorted_heading:
      return A_REVERSE | A_BOLD | A_UNDERLINE;
    case Style::faint:
      return colours ? A_DIM : A_NORMAL;
    case Style::good:
      return colours ? COLOR_PAIR(kGood) : A_NORMAL;
    case Style::warning:
      return A_BOLD | (colours ? COLOR_PAIR(kWarning) : A_NORMAL);
    default:
      return A_NORMAL;
  }
}

KeyPress translate(int code) noexcept {
  switch (code) {
    case KEY_UP:
      return {Key::up};
    case KEY_DOWN:
      return {Key::down};
    case KEY_LEFT:
      return {Key::left};
    case KEY_RIGHT:
      return {Key::right};
    case KEY_PPAGE:
      return {Key::page_up};
    case KEY_NPAGE:
      return {Key::page_down};
    case KEY_HOME:
    case KEY_FIND:
      return {Key::home};
    case KEY_END:
    case KEY_SELECT:
      return {Key::end};
    case KEY_BACKSPACE:
    case 0x7F:
    case '\b':
      return {Key::backspace};
    case KEY_ENTER:
    case '\n':
    case '\r':
      return {Key::enter};
    case KEY_RESIZE:
      return {Key::resize};
    case 0x1B:
      return {Key::escape};
    default:
      break;
  }
  if (code >= 0x20 && code < 0x7F) return {Key::text, static_cast<char>(code)};
  return {};
}

}  // namespace

Result<std::unique_ptr<Terminal>> Terminal::open() {
  if (auto fault = check_terminal()) return std::move(fault->error);
  std::unique_ptr<Terminal> terminal(new Terminal);
  std::FILE* keyboard = stdin;
  if (::isatty(STDIN_FILENO) == 0) {
    keyboard = std::fopen("/dev/tty", "r");
    if (keyboard == nullptr) return Error{"--live needs a keyboard: neither standard input nor /dev/tty is a terminal"};
    terminal->keyboard_.reset(keyboard);
  }
  terminal->keyboard_fd_ = ::fileno(keyboard);
  std::setlocale(LC_CTYPE, "");
  if (std::strcmp(::nl_langinfo(CODESET), "UTF-8") == 0) terminal->glyphs_ = Glyphs::unicode;
  SCREEN* const screen = ::newterm(nullptr, stdout, keyboard);
  if (screen == nullptr) return Error{"cannot set up the terminal for --live"};
  terminal->screen_ = screen;
  ::set_term(screen);
  ::set_escdelay(kEscapeMs);
  ::cbreak();
  ::noecho();
  ::curs_set(0);
  ::keypad(stdscr, true);
  ::nodelay(stdscr, true);
  if (::has_colors() && ::start_color() == OK && ::use_default_colors() == OK) {
    ::init_pair(kGood, COLOR_GREEN, -1);
    ::init_pair(kWarning, COLOR_RED, -1);
    terminal->colours_ = true;
  }
  return terminal;
}

Terminal::~Terminal() {
  if (screen_ == nullptr) return;
  ::endwin();
  ::delscreen(static_cast<SCREEN*>(screen_));
}

Size Terminal::size() const noexcept {
  return {static_cast<std::size_t>(std::max(getmaxx(stdscr), 1)),
          static_cast<std::size_t>(std::max(getmaxy(stdscr), 1))};
}

void Terminal::paint(std::span<const Line> lines) {
  ::erase();
  for (std::size_t y = 0; y < lines.size(); ++y) {
    ::move(static_cast<int>(y), 0);
    for (const Piece& piece : lines[y]) {
      ::attrset(static_cast<int>(attributes_of(piece.style, colours_)));
      ::addstr(piece.text.c_str());
    }
  }
  ::attrset(A_NORMAL);
  ::refresh();
}

std::optional<KeyPress> Terminal::wait_key(std::chrono::milliseconds most) {
  int code = ::getch();
  if (code == ERR) {
    pollfd keyboard{.fd = keyboard_fd_, .events = POLLIN, .revents = 0};
    if (::poll(&keyboard, 1, static_cast<int>(most.count())) > 0 && (keyboard.revents & POLLIN) == 0)
      return std::nullopt;
    code = ::getch();
    if (code == ERR && (keyboard.revents & POLLHUP) != 0) return std::nullopt;
  }
  return code == ERR ? KeyPress{} : translate(code);
}

}  // namespace parshall::live
