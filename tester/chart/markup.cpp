// SPDX-License-Identifier: Apache-2.0
#include "tester/chart/markup.hpp"

#include <algorithm>
#include <cstddef>

namespace parshall::tester {
namespace {

std::string_view reference_of(char c) noexcept {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return "";
  }
}

/// Returns the bytes of the first character; 0 if it is not allowed by XML 1.0, section 2.2.
std::size_t character_bytes(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 ? first != 0x7F : first == '\t' || first == '\n';
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  constexpr unsigned kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return 0;
  unsigned code = first & (0x7F >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3F);
  }
  const bool surrogate = code >= 0xD800 && code < 0xE000, none = code == 0xFFFE || code == 0xFFFF;
  const bool control = code < 0xA0;
  return code < kLeast[bytes] || code > 0x10FFFF || surrogate || none || control ? 0 : bytes;
}

}  // namespace

std::string markup_text(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    const std::string_view reference = reference_of(text.front());
    safe += bytes == 0 ? "\xEF\xBF\xBD" : !reference.empty() ? reference : text.substr(0, bytes);
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return safe;
}

}  // namespace parshall::tester
