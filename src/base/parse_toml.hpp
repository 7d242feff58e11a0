// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

// The parser asserts that "[[[" is followed by a key and afterwards reports the missing key as an error. A mistake in a
// file must not end the program, so the assertion is disabled.
#ifndef TOML_ASSERT
#define TOML_ASSERT(expression) static_cast<void>(0)
#endif
#include <toml++/toml.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace parshall {

/// Returns "FILE, line N, column M".
inline std::string place_in(const std::string& name, const toml::source_position& at) {
  return fmt::format("{}, line {}, column {}", name, at.line, at.column);
}

/// Returns an error if a line has so many dots that its key could overflow the stack. A TOML parser recurses once per
/// dot of a key, and some 100,000 dots end the program. All dots of a line count, even inside strings, so an attacker
/// cannot hide them. Lists of numbers have fewer.
inline std::optional<Error> deep_key_problem(std::string_view text, const std::string& name) {
  constexpr std::size_t kMostDots = 10'000;
  toml::source_position at{1, 0};
  std::size_t dots = 0;
  for (const char c : text) {
    ++at.column;
    if (c == '\n') {
      ++at.line;
      at.column = 0;
      dots = 0;
    } else if (c == '.' && ++dots > kMostDots) {
      return Error{fmt::format("{}: a line has more than {} dots, so a key may have too many parts", place_in(name, at),
                               kMostDots)};
    }
  }
  return std::nullopt;
}

/// Parses a whole file. An error says where in `name` the TOML is invalid.
inline Result<toml::table> parse_toml(std::string_view text, const std::string& name) {
  if (auto problem = deep_key_problem(text, name)) return *std::move(problem);
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& wrong) {
    const bool is_twice = wrong.description().find("redefine") != std::string_view::npos;
    return Error{
        fmt::format("{}: {} ({})", place_in(name, wrong.source().begin),
                    is_twice ? "a name is given twice" : "this is not TOML: write NAME = VALUE, with texts in quotes",
                    wrong.description())};
  }
}

}  // namespace parshall
