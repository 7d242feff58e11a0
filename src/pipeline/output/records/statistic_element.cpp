// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/records/statistic_element.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "pipeline/output/records/base_columns.hpp"

namespace parshall {
namespace {

/// Element numbers of a variable's columns. `first` + N is its N-th sample; percentiles have a separate range.
struct VariableElements {
  std::string_view name, unit;
  std::uint16_t first;
  std::uint16_t percentiles = 0;  ///< 0: no percentiles
};
constexpr VariableElements kVariableElements[] = {
    {"gap_", "_packets", 100, 10000},
    {"iat_", "_ns", 140, 11100},
    {"size_", "_bytes", 180, 12200},
    {"ip_size_", "_bytes", 220, 13300},
    {"ttl_", "", 260, 14400},
    {"rtt_", "_ns", 300, 15500},
    {"tcp_flags_", "", 340},
    {"dscp_", "", 360},
    {"vlan_", "", 380},
    {"icmp_type_code_", "", 400},
};

struct KindElement {
  std::string_view name;
  std::uint16_t behind;  ///< offset from the variable's first number
};
constexpr KindElement kKindElements[] = {{"<1-16>", 0}, {"last", 20}, {"min", 21},      {"max", 22},
                                         {"mean", 23},  {"sd", 24},   {"skewness", 25}, {"kurtosis", 26}};

std::optional<std::uint16_t> number_of(std::string_view text) noexcept {
  std::uint16_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Returns the number of a percentile P: 10 P up to 1000, and 1001 to 1099 for 99.01 to 99.99.
std::optional<std::uint16_t> percentile_of(std::string_view text) noexcept {
  constexpr std::uint16_t kTenths = 10, kHundredths = 1000, kMost = 99;
  if (text == "<percentile>") return std::uint16_t{0};
  const std::size_t point = text.find('.');
  const auto whole = number_of(text.substr(0, point));
  if (!whole || *whole > kMost) return std::nullopt;
  if (point == text.npos) return static_cast<std::uint16_t>(kTenths * *whole);
  const std::string_view fraction = text.substr(point + 1);
  const auto digits = number_of(fraction);
  if (digits && fraction.size() == 1) return static_cast<std::uint16_t>(kTenths * *whole + *digits);
  if (digits && fraction.size() == 2 && *whole == kMost) return static_cast<std::uint16_t>(kHundredths + *digits);
  return std::nullopt;
}

std::optional<std::uint16_t> own_number(const VariableElements& variable, std::string_view what) noexcept {
  constexpr std::uint16_t kSamples = 16;
  if (what.starts_with('p') && variable.percentiles != 0) {
    const auto percentile = percentile_of(what.substr(1));
    return percentile ? std::optional(static_cast<std::uint16_t>(variable.percentiles + *percentile)) : std::nullopt;
  }
  if (const auto sample = number_of(what); sample && *sample >= 1 && *sample <= kSamples)
    return static_cast<std::uint16_t>(variable.first + *sample);
  const auto measure = std::ranges::find(kKindElements, what, &KindElement::name);
  if (measure == std::end(kKindElements)) return std::nullopt;
  return static_cast<std::uint16_t>(variable.first + measure->behind);
}

IpfixElement forward_element(std::string_view column) noexcept {
  const auto elements = statistic_elements();
  const auto found = std::ranges::find(elements, column, &StatisticElement::column);
  if (found != elements.end()) return found->ipfix;
  for (const VariableElements& variable : kVariableElements) {
    if (!column.starts_with(variable.name)) continue;
    std::string_view what = column.substr(variable.name.size());
    if (what.ends_with(variable.unit)) what.remove_suffix(variable.unit.size());
    if (const auto number = own_number(variable, what)) return {kOwnPen, *number};
  }
  return {};
}

/// Returns a number for the same column of another direction. Numbers of percentiles move nearer to the others, so that
/// those of both directions fit below 2^15.
std::uint16_t moved(std::uint16_t number, Direction direction) noexcept {
  constexpr std::uint16_t kReverse = 17000, kBoth = 25000, kPercentiles = 10000, kNearer = 9000;
  if (number >= kPercentiles) number = static_cast<std::uint16_t>(number - kNearer);
  return static_cast<std::uint16_t>(number + (direction == Direction::reverse ? kReverse : kBoth));
}

}  // namespace

IpfixElement statistic_element(std::string_view column) noexcept {
  constexpr std::uint16_t kPublished = 500;  // numbers of IANA, where they become our own
  const Direction direction = take_direction(column);
  IpfixElement element = forward_element(column);
  if (direction == Direction::forward || element.element == 0) return element;
  if (element.pen == 0 && direction == Direction::reverse) return {kReversePen, element.element, element.other};
  const auto own = static_cast<std::uint16_t>(element.element + (element.pen == 0 ? kPublished : 0));
  return {kOwnPen, moved(own, direction)};
}

}  // namespace parshall
