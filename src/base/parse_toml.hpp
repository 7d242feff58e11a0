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

/// Whether a line may have a key of so many parts: a parser of TOML goes one call deeper for each dot of a key, and
/// some 100,000 of them end the program. All dots of a line count, whatever they are in: nobody who wants to end it by
/// them can hide them, and lists of numbers have fewer. The error says in which line of `name`.
inline std::optional<Error> deep_key_problem(std::string_view text, const std::string& name) {
  constexpr std::ptrdiff_t kMostDots = 10'000;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (std::ranges::count(text.substr(0, end), '.') > kMostDots)
      return Error{fmt::format("{}, line {}: more than {} dots, as in a key of too many parts", name, line, kMostDots)};
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::nullopt;
}

/// An error says in which line of `name` the text is no TOML.
inline Result<toml::table> parse_toml(std::string_view text, const std::string& name) {
  if (auto problem = deep_key_problem(text, name)) return *std::move(problem);
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& wrong) {
    return Error{fmt::format("{}, line {}: {}", name, wrong.source().begin.line, wrong.description())};
  }
}

}  // namespace parshall
