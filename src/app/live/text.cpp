// SPDX-License-Identifier: Apache-2.0
#include "app/live/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/escaped.hpp"
#include "pipeline/output/format.hpp"

namespace parshall::live {
namespace {

constexpr std::size_t kLevels = 8;
constexpr std::string_view kBlocks[kLevels + 1] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::string_view kAsciiLevels = " .:-=+*#@";

bool continues(char c) noexcept { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Returns the bytes of the first `columns` characters.
std::size_t bytes_of(std::string_view text, std::size_t columns) noexcept {
  std::size_t at = 0;
  for (; at < text.size(); ++at)
    if (!continues(text[at]) && columns-- == 0) break;
  return at;
}

}  // namespace

std::size_t width_of(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return !continues(c); }));
}

std::string cut(std::string_view text, std::size_t width, Glyphs glyphs) {
  if (width_of(text) <= width) return std::string(text);
  if (width == 0) return {};
  return std::string(text.substr(0, bytes_of(text, width - 1))) + (glyphs == Glyphs::unicode ? "…" : "~");
}

std::string cut_middle(std::string_view text, std::size_t width, Glyphs glyphs) {
  const std::size_t all = width_of(text);
  if (all <= width) return std::string(text);
  if (width < 4) return cut(text, width, glyphs);
  const std::size_t tail = (width - 1) / 2;
  return cut(text, width - tail, glyphs) + std::string(text.substr(bytes_of(text, all - tail)));
}

std::vector<std::string> wrap(std::string_view text, std::size_t width, std::size_t lines, Glyphs glyphs) {
  std::vector<std::string> out;
  if (width == 0 || lines == 0) return out;
  while (out.size() + 1 < lines && width_of(text) > width) {
    std::size_t end = bytes_of(text, width);
    std::size_t next = end;
    if (const std::size_t space = text.rfind(' ', end); space != std::string_view::npos && space != 0) {
      end = space;
      next = space + 1;
    }
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(next);
  }
  out.push_back(cut(text, width, glyphs));
  return out;
}

std::string printable(std::string_view text, Glyphs glyphs) {
  std::string clean = escaped(text);
  if (glyphs == Glyphs::ascii)
    std::ranges::replace_if(
        clean, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  return clean;
}

std::string sparkline(std::span<const double> values, std::size_t width, Glyphs glyphs) {
  if (values.size() > width) values = values.last(width);
  if (values.empty()) return {};
  const double most = *std::ranges::max_element(values);
  std::string line;
  for (const double value : values) {
    std::size_t level = most > 0 ? static_cast<std::size_t>(std::ceil(value / most * kLevels - 1e-9)) : 0;
    if (value > 0) level = std::clamp<std::size_t>(level, 1, kLevels);
    if (glyphs == Glyphs::unicode)
      line += kBlocks[level];
    else
      line += kAsciiLevels[level];
  }
  return line;
}

std::string bar(double share, std::size_t width, Glyphs glyphs) {
  const auto filled = static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(width)));
  std::string text;
  for (std::size_t i = 0; i < width; ++i)
    text += glyphs == Glyphs::unicode ? (i < filled ? "█" : "░") : (i < filled ? "#" : ".");
  return text;
}

std::string shorten_numbers(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_digit(text[end])) ++end;
    if (end - at >= 5) {
      std::string number = scaled_text(std::strtod(std::string(text.substr(at, end - at)).c_str(), nullptr));
      std::erase(number, ' ');
      out += number;
    } else if (end != at) {
      out += text.substr(at, end - at);
    } else {
      out += text[end++];
    }
    at = end;
  }
  return out;
}

std::string time_text(double ns) {
  if (std::fabs(ns) < 1e3) return scaled_text(ns, "ns");
  if (std::fabs(ns) < 1e6) return scaled_text(ns / 1e3, "us");
  if (std::fabs(ns) < 1e9) return scaled_text(ns / 1e6, "ms");
  return scaled_text(ns / 1e9, "s");
}

}  // namespace parshall::live
