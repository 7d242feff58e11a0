// SPDX-License-Identifier: Apache-2.0
#include "base/escaped.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace parshall {
namespace {

struct Character {
  std::size_t bytes = 0;  ///< 0: no character begins here
  std::uint32_t code = 0;
};

Character first_of(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty()) return {};
  const unsigned first = byte(0);
  if (first < 0x80) return {1, first};
  if (first < 0xc2 || first > 0xf4) return {};
  const std::size_t bytes = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (text.size() < bytes) return {};
  // Rejects overlong encodings, halves of a surrogate pair, and code points beyond U+10FFFF.
  const unsigned least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < least || byte(1) > most) return {};
  std::uint32_t code = first & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xbf) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  return {bytes, code};
}

bool is_printable(std::uint32_t code) noexcept {
  const bool is_control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const bool moves_text = code == 0x061c || (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
                          (code >= 0x2066 && code <= 0x2069);
  return !is_control && !moves_text;
}

}  // namespace

std::size_t printable_length(std::string_view text) noexcept {
  const Character first = first_of(text);
  return is_printable(first.code) ? first.bytes : 0;
}

std::string escaped(std::string_view name) {
  std::string shown;
  while (!name.empty()) {
    const std::size_t bytes = printable_length(name);
    if (bytes != 0)
      shown += name.substr(0, bytes);
    else if (name[0] == '\n' || name[0] == '\t')
      shown += name[0] == '\n' ? "\\n" : "\\t";
    else
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(name[0]));
    name.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return shown;
}

}  // namespace parshall
