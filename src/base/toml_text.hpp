// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>

namespace parshall {

/// Returns `text` as a basic string of TOML. Source: TOML 1.0.0, "String".
inline std::string toml_string(std::string_view text) {
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

}  // namespace parshall
