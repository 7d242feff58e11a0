// SPDX-License-Identifier: Apache-2.0
#include "parshall/metrics_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace parshall {
namespace {

/// Returns the bytes of the character that the text begins with; 0 where it begins with none. Source: RFC 3629, section
/// 4.
std::size_t utf8_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (text.size() < length) return 0;
  // Neither longer than need be, nor half of a pair, nor beyond U+10FFFF.
  const unsigned least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < least || byte(1) > most) return 0;
  for (std::size_t i = 2; i < length; ++i)
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  return length;
}

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

}  // namespace

std::string label_text(std::string_view value) {
  std::string text;
  while (!value.empty()) {
    const std::size_t length = utf8_length(value);
    const auto first = static_cast<unsigned char>(value[0]);
    if (first == '\n')
      text += "\\n";
    else if (first == '\\' || first == '"')
      (text += '\\') += value[0];
    else if (length == 0 || first < 0x20 || first == 0x7f)
      text += fmt::format("\\\\x{:02x}", first);
    else
      text += value.substr(0, length);
    value.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text;
}

void MetricsText::begin(std::string_view name, Kind kind, std::string_view help) {
  name_ = name;
  text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, kind == Kind::counter ? "counter" : "gauge");
}

void MetricsText::put_series(Labels labels) {
  text_ += name_;
  char before = '{';
  for (const auto& [label, value] : labels) {
    text_ += fmt::format("{}{}=\"{}\"", before, label, label_text(value));
    before = ',';
  }
  if (before == ',') text_ += '}';
}

void MetricsText::put(std::uint64_t value, Labels labels) {
  put_series(labels);
  text_ += fmt::format(" {}\n", value);
}

void MetricsText::put(double value, Labels labels) {
  put_series(labels);
  text_ += fmt::format(" {}\n", number_text(value));
}

}  // namespace parshall
