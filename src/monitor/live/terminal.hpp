// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>

#include "base/result.hpp"
#include "monitor/live/screen.hpp"

namespace parshall::live {

/// Why standard output cannot show the view, if so.
enum class TerminalFault : unsigned char { not_a_terminal, unknown_terminal };
struct TerminalError {
  TerminalFault fault;
  Error error;
};
std::optional<TerminalError> check_terminal();

/// The screen and the keyboard; as they were before when it is destroyed. One at a time.
class Terminal {
 public:
  static Result<std::unique_ptr<Terminal>> open();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  Glyphs glyphs() const noexcept { return glyphs_; }
  Size size() const noexcept;
  void paint(std::span<const Line> lines);

  /// The next key, Key::none after `most`; nothing when the terminal is gone.
  std::optional<KeyPress> wait_key(std::chrono::milliseconds most);

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  Terminal() = default;

  std::unique_ptr<std::FILE, Close> keyboard_;  ///< where standard input is not one
  int keyboard_fd_ = 0;
  void* screen_ = nullptr;  ///< ncurses' SCREEN
  bool colours_ = false;
  Glyphs glyphs_ = Glyphs::ascii;
};

}  // namespace parshall::live
