// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>

#include "app/live/screen.hpp"
#include "base/result.hpp"

namespace parshall::live {

/// Reason why standard output cannot show the view.
enum class TerminalFault : unsigned char { not_a_terminal, unknown_terminal };
struct TerminalError {
  TerminalFault fault;
  Error error;
};
std::optional<TerminalError> check_terminal();

/// Controls the screen and the keyboard; its destructor restores both. Only one may exist at a time.
class Terminal {
 public:
  static Result<std::unique_ptr<Terminal>> open();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  Glyphs glyphs() const noexcept { return glyphs_; }
  Size size() const noexcept;
  void paint(std::span<const Line> lines);

  /// Waits for the next key. Returns Key::none after `most`, and nullopt once the terminal is gone.
  std::optional<KeyPress> wait_key(std::chrono::milliseconds most);

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  Terminal() = default;

  std::unique_ptr<std::FILE, Close> keyboard_;  ///< used if standard input is no terminal
  int keyboard_fd_ = 0;
  void* screen_ = nullptr;  ///< ncurses' SCREEN
  bool colours_ = false;
  Glyphs glyphs_ = Glyphs::ascii;
};

}  // namespace parshall::live
