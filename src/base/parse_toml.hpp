// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace parshall {

/// The first line, from 1 on, that may have a key of so many parts: a parser of TOML goes one call deeper for each dot
/// of a key, and some 100,000 of them end the program. All dots of a line count, whatever they are in: nobody who wants
/// to end it by them can hide them, and lists of numbers have fewer.
inline std::optional<std::size_t> line_of_deep_key(std::string_view text) {
  constexpr std::ptrdiff_t kMostDots = 10'000;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (std::ranges::count(text.substr(0, end), '.') > kMostDots) return line;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::nullopt;
}

/// An error says in which line of `name` the text is no TOML.
inline Result<toml::table> parse_toml(std::string_view text, const std::string& name) {
  if (const auto line = line_of_deep_key(text))
    return Error{fmt::format("{}, line {}: more than 10000 dots, as in a key of too many parts", name, *line)};
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& wrong) {
    return Error{fmt::format("{}, line {}: {}", name, wrong.source().begin.line, wrong.description())};
  }
}

}  // namespace parshall
