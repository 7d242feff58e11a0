// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "classify/labels.hpp"

namespace parshall {

/// Collects the labels of one file, and its bad lines.
class LabelReading {
 public:
  LabelReading(std::string name, BadLines bad_lines) : name_(std::move(name)), bad_lines_(bad_lines) {}

  /// Adds a line's flow, or its error.
  void add(std::size_t line, const Result<FlowKey>& flow, std::string_view class_name, std::string_view capture = {});

  /// Makes messages say "row" in place of "line", for files that have no lines.
  void count_rows() noexcept { unit_ = "row"; }

  /// Counts a line that says nothing about a flow's class, such as "Unknown".
  void add_unnamed() noexcept {
    ++good_;
    ++unnamed_;
  }

  /// Counts bad lines; `line` is the first of them. `file` is where they are, if not in the list itself.
  void refuse(std::size_t line, const std::string& what, std::size_t lines = 1, const std::string& file = {});

  /// Returns true once a bad line ends the reading.
  bool ended() const noexcept { return bad_lines_ == BadLines::refuse && bad_ != 0; }

  /// Returns an error of this file at a line; of the whole file if `line` is 0.
  Error wrong(std::size_t line, const std::string& what) const;

  /// Returns the labels. Error: a line was bad, or all were. `format` is what the file was recognised as.
  Result<Labels> finish(std::string_view format);

  static constexpr const char* kUnreadable = "the file cannot be read any further";

 private:
  std::string name_;
  std::string_view unit_ = "line";
  BadLines bad_lines_;
  Labels labels_;
  std::uint64_t good_ = 0, bad_ = 0, unnamed_ = 0;
  std::string first_bad_;  ///< the first bad line: file, number, problem
};

}  // namespace parshall
