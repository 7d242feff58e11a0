// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <ios>
#include <streambuf>
#include <string>

namespace parshall {

/// Reads lines of text, which end in LF or CR LF. The last one needs no end.
class TextLines {
 public:
  explicit TextLines(std::streambuf& text) : text_(text) {}

  std::size_t line() const noexcept { return line_; }
  const std::string& text() const noexcept { return line_text_; }  ///< without the line's end; cut if it is too long
  bool is_too_long() const noexcept { return line_text_.size() > kLongest; }
  bool failed() const noexcept { return failed_; }  ///< the file could not be read to its end

  /// Reads the next line, skipping empty ones. Returns false at the end, or if reading failed.
  bool next() {
    try {
      while (next_line())
        if (!line_text_.empty()) return true;
    } catch (const std::ios_base::failure&) {  // a folder, or a broken disk
      failed_ = true;
    }
    return false;
  }

  static constexpr std::size_t kLongest = 1 << 20;  ///< bytes

 private:
  bool next_line() {
    constexpr int kEnd = std::char_traits<char>::eof();
    line_text_.clear();
    if (text_.sgetc() == kEnd) return false;
    ++line_;
    for (int c = text_.sbumpc(); c != '\n' && c != kEnd; c = text_.sbumpc())
      if (!is_too_long()) line_text_ += static_cast<char>(c);
    if (!line_text_.empty() && line_text_.back() == '\r') line_text_.pop_back();
    return true;
  }

  std::streambuf& text_;
  std::size_t line_ = 0;
  std::string line_text_;
  bool failed_ = false;
};

}  // namespace parshall
