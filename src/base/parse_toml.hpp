// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace parshall {

/// The first line, from 1 on, with a key of more parts than any of ours has. A parser of TOML goes one call deeper for
/// each dot of a key: some 100,000 of them end the program, and a few hundred are passed over by that of options.
inline std::optional<std::size_t> line_of_deep_key(std::string_view text) {
  constexpr std::size_t kMostDots = 16;
  std::size_t line = 1, dots = 0;
  char quote = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n') {
      ++line;
      dots = 0;
      quote = 0;
    } else if (quote != 0) {
      if (c == '\\' && quote == '"') ++at;
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      at = std::min(text.find('\n', at), text.size()) - 1;
    } else if (c == ',' || c == '=' || c == '[' || c == ']' || c == '{' || c == '}') {
      dots = 0;
    } else if (c == '.' && ++dots > kMostDots) {
      return line;
    }
  }
  return std::nullopt;
}

/// An error says in which line of `name` the text is no TOML.
inline Result<toml::table> parse_toml(std::string_view text, const std::string& name) {
  if (const auto line = line_of_deep_key(text))
    return Error{fmt::format("{}, line {}: a key of too many parts", name, *line)};
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& wrong) {
    return Error{fmt::format("{}, line {}: {}", name, wrong.source().begin.line, wrong.description())};
  }
}

}  // namespace parshall
