// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace parshall {

/// Parses a number with one of the given units and returns it times the unit's factor. Returns nullopt for other text
/// and for negative numbers. The limit is 2^63, or 2^64 for a whole number without unit if the first factor is 1.
inline std::optional<std::uint64_t> parse_with_unit(const std::string& text,
                                                    std::initializer_list<std::pair<std::string_view, double>> units) {
  std::uint64_t whole = 0;
  const auto [rest, problem] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (problem == std::errc() && rest == text.data() + text.size() && units.begin()->second == 1) return whole;
  // strtod() would also accept leading spaces and signs, hexadecimal digits and infinity.
  if (text.find_first_of("0123456789.") != 0 || text.find_first_of("xX") == 1) return std::nullopt;
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !std::isfinite(number)) return std::nullopt;
  const std::string_view typed_unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const auto& [unit, factor] : units) {
    if (unit != typed_unit) continue;
    const double value = number * factor;
    if (value >= 0x1p63 || (value < 1 && number > 0)) return std::nullopt;
    return static_cast<std::uint64_t>(std::llround(value));
  }
  return std::nullopt;
}

/// Parses a duration such as "10", "1.5s", "250ms", "2m" or "1h" into nanoseconds. Without a unit it is in seconds.
inline std::optional<std::uint64_t> parse_duration_ns(const std::string& text) {
  return parse_with_unit(
      text, {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}});
}

/// Parses a count such as "1000", "64k", "1M", "2G" (powers of ten) or "64Ki", "1Mi" (powers of two).
inline std::optional<std::uint64_t> parse_count(const std::string& text) {
  return parse_with_unit(
      text, {{"", 1}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}});
}

}  // namespace parshall
