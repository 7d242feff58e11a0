// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace parshall::tester {

/// A number in what a program says: the group of a regular expression, of the last line that has one.
class CountPattern {
 public:
  static Result<CountPattern> parse(const std::string& text);

  const std::string& text() const noexcept { return text_; }
  std::optional<std::uint64_t> find(const std::string& output) const;

 private:
  CountPattern(std::string text, std::regex pattern) : text_(std::move(text)), pattern_(std::move(pattern)) {}

  std::string text_;
  std::regex pattern_;
};

/// Whether a line of it matches.
bool says(const std::string& output, const std::regex& pattern);

/// A command line as words: separated by spaces, together in '' or "". No shell.
Result<std::vector<std::string>> command_words(const std::string& command);

/// The words with the interface's name in place of {interface}.
std::vector<std::string> for_interface(std::vector<std::string> words, const std::string& interface);

}  // namespace parshall::tester
