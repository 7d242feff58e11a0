// SPDX-License-Identifier: Apache-2.0
#include "tester/watch_loss/monitor_command.hpp"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

namespace parshall::tester {
namespace {

constexpr std::size_t kLongestLine = 4096;  ///< std::regex uses stack for each character
constexpr std::string_view kPlace = "{interface}";

/// Calls `is_it` with the beginning of each line until it returns true.
template <class IsIt>
void for_lines(const std::string& output, IsIt is_it) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.size() > kLongestLine) line.resize(kLongestLine);
    if (is_it(line)) return;
  }
}

}  // namespace

Result<CountPattern> CountPattern::parse(const std::string& text) {
  try {
    std::regex pattern(text, std::regex::ECMAScript | std::regex::optimize);
    if (pattern.mark_count() != 1)
      return Error{fmt::format(
          "{}: put parentheses around the number and nothing else, as in '([0-9]+) packets captured'", text)};
    return CountPattern(text, std::move(pattern));
  } catch (const std::regex_error& error) {
    return Error{fmt::format("{}: not a regular expression (ECMAScript): {}", text, error.what())};
  }
}

std::optional<std::uint64_t> CountPattern::find(const std::string& output) const {
  std::optional<std::uint64_t> found;
  for_lines(output, [&](const std::string& line) {
    std::smatch match;
    if (!std::regex_search(line, match, pattern_)) return false;
    const std::string digits = match[1].str();
    std::uint64_t number = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (problem == std::errc() && end == digits.data() + digits.size()) found = number;
    return false;  // the last match counts
  });
  return found;
}

bool says(const std::string& output, const std::regex& pattern) {
  bool is_said = false;
  for_lines(output + "\n", [&](const std::string& line) { return is_said = std::regex_search(line, pattern); });
  return is_said;
}

Result<std::vector<std::string>> command_words(const std::string& command) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (const char c : command) {
    if (quote != 0 ? c == quote : (c == '\'' || c == '"')) {
      quote = quote != 0 ? char{0} : c;
      if (!in_word) words.emplace_back();
      in_word = true;
    } else if (quote == 0 && (c == ' ' || c == '\t')) {
      in_word = false;
    } else {
      if (!in_word) words.emplace_back();
      in_word = true;
      words.back() += c;
    }
  }
  if (quote != 0) return Error{fmt::format("{}: a quote is not closed", command)};
  if (words.empty()) return Error{"the command is empty: name a program"};
  return words;
}

std::vector<std::string> for_interface(std::vector<std::string> words, const std::string& interface) {
  for (std::string& word : words)
    for (std::size_t at = 0; (at = word.find(kPlace, at)) != word.npos; at += interface.size())
      word.replace(at, kPlace.size(), interface);
  return words;
}

}  // namespace parshall::tester
