// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace parshall::tester {

/// Finds a number in a program's output: the group of a regular expression, in the last line that matches.
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

/// Returns true if a line of the output matches.
bool says(const std::string& output, const std::regex& pattern);

/// Splits a command line into words at spaces; '' and "" keep words together. No shell is involved.
Result<std::vector<std::string>> command_words(const std::string& command);

/// Replaces {interface} in the words with the interface's name.
std::vector<std::string> for_interface(std::vector<std::string> words, const std::string& interface);

}  // namespace parshall::tester
