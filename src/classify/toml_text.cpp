// SPDX-License-Identifier: Apache-2.0
#include "classify/toml_text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace parshall {

std::string quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      quoted += {'\\', c};
    else if (byte < 0x20 || byte == 0x7F)
      quoted += fmt::format("\\u{:04X}", byte);
    else
      quoted += c;
  }
  return quoted + '"';
}

std::string listed(std::span<const double> numbers) {
  std::string list = "[";
  for (const double number : numbers) {
    if (list.size() > 1) list += ", ";
    list += std::isnan(number) ? fmt::format("\"{}\"", kNone) : fmt::format("{}", number);
  }
  return list + ']';
}

}  // namespace parshall
