// SPDX-License-Identifier: Apache-2.0
#include "tester/chart/number_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace parshall::tester {
namespace {

/// Formats a number without an exponent, for readability.
std::string plain(double value, int digits) {
  if (value == 0) return "0";
  const int before = static_cast<int>(std::floor(std::log10(std::fabs(value)))) + 1;
  std::string text = fmt::format("{:.{}f}", value, std::max(0, digits - before));
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

std::string number_text(double value, std::string_view unit, int digits) {
  constexpr std::array kPrefixes{"", "k", "M", "G", "T", "P", "E"};
  if (!std::isfinite(value)) return "none";
  std::size_t prefix = 0;
  // A value that would be rounded to a thousand counts as one.
  const double thousand = 1000 - 0.5 * std::pow(10.0, 3 - digits);
  while (std::fabs(value) >= thousand && prefix + 1 < kPrefixes.size()) value /= 1000, ++prefix;
  const bool spaced = prefix != 0 || !unit.empty();
  return fmt::format("{}{}{}{}", plain(value, digits), spaced ? " " : "", kPrefixes[prefix], unit);
}

std::string seconds_text(double s) { return std::isfinite(s) ? plain(s, 6) + " s" : "none"; }

std::string percent_text(double share, int digits) {
  return std::isfinite(share) ? plain(100 * share, digits) + " %" : "none";
}

}  // namespace parshall::tester
