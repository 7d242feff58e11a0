// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

#include "classify/text_lines.hpp"

namespace parshall {

/// Reads columns of a log of Zeek: tab-separated values behind lines such as #fields, or JSON lines. Each line shows
/// which of both it is, and later #fields replace earlier ones, so logs may be joined.
/// Source: https://docs.zeek.org/en/current/log-formats.html
class ZeekLog {
 public:
  ZeekLog(std::streambuf& log, std::span<const std::string_view> columns)
      : lines_(log), columns_(columns), values_(columns.size()) {}

  /// Reads the next line with values, or with a problem. Returns false at the end, or if the log is not usable.
  bool next();

  std::size_t line() const noexcept { return lines_.line(); }
  const std::string& value(std::size_t column) const noexcept { return values_[column]; }  ///< empty if it is not set
  const std::string& problem() const noexcept { return problem_; }  ///< of this line; empty: it is valid
  const std::string& failure() const noexcept { return failure_; }  ///< of the whole log; empty: it is usable

 private:
  void take_directive();
  void take_fields(std::string_view names);
  void take_values();
  void take_json();

  TextLines lines_;
  std::span<const std::string_view> columns_;
  std::vector<std::string> values_;
  std::vector<std::size_t> places_;  ///< by field: its column, or kOther
  std::string separator_ = "\t", unset_ = "-", empty_ = "(empty)";
  std::string problem_, failure_;
  static constexpr std::size_t kOther = ~std::size_t{0};
};

}  // namespace parshall
