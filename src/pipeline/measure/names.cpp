// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/names.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "base/suggestion.hpp"

namespace parshall {
namespace {

using Families = std::span<const StatisticFamily* const>;

constexpr std::array<std::string_view, 3> kPrefixes{"", "reverse_", "both_"};

std::optional<StatisticName> understand(Direction direction, Variable variable, std::string_view rest,
                                        Families families) {
  const VariableInfo& info = info_of(variable);
  const std::string unit = fmt::format("_{}", info.unit);
  const bool with_unit = !info.unit.empty() && rest.ends_with(unit);
  if (with_unit) rest.remove_suffix(unit.size());
  for (const StatisticFamily* family : families) {
    if (!family->is_of(variable)) continue;
    const auto known = family->find(rest);
    if (!known || (with_unit && !known->measure->has_unit)) continue;
    return StatisticName{direction, variable, family, known->what,
                         make_column(variable, known->what, *known->measure).name};
  }
  return std::nullopt;
}

}  // namespace

std::string_view prefix_of(Direction direction) noexcept { return kPrefixes[static_cast<std::size_t>(direction)]; }

Direction take_direction(std::string_view& name) noexcept {
  for (const Direction direction : {Direction::reverse, Direction::both}) {
    if (!name.starts_with(prefix_of(direction))) continue;
    name.remove_prefix(prefix_of(direction).size());
    return direction;
  }
  return Direction::forward;
}

Result<StatisticName> parse_statistic_name(std::string_view name, Families families) {
  std::string_view text = name;
  const Direction direction = take_direction(text);
  for (std::size_t v = kPlainVariables; v < kVariables; ++v)
    if (text == kVariableInfo[v].name && is_of_side(static_cast<Variable>(v)) && !kVariableInfo[v].is_amount)
      if (auto known = understand(direction, static_cast<Variable>(v), "1", families)) return *std::move(known);
  for (std::size_t v = 0; v < kVariables; ++v) {
    const std::string_view variable = kVariableInfo[v].name;
    if (!text.starts_with(variable) || !text.substr(variable.size()).starts_with('_')) continue;
    auto known = understand(direction, static_cast<Variable>(v), text.substr(variable.size() + 1), families);
    if (known) return *std::move(known);
  }
  return Error{fmt::format("unknown statistic \"{}\"{}", name,
                           suggestion(name, statistic_names(families), "parshall list statistics"))};
}

std::vector<std::string> statistic_names(Families families) {
  std::vector<std::string> names;
  for (std::size_t v = 0; v < kVariables; ++v) {
    const VariableInfo& info = kVariableInfo[v];
    for (const StatisticFamily* family : families) {
      if (!family->is_of(static_cast<Variable>(v))) continue;
      for (const StatisticKind& measure : family->measures) {
        names.push_back(fmt::format("{}_{}", info.name, measure.example));
        if (measure.has_unit && !info.unit.empty()) names.push_back(fmt::format("{}_{}", names.back(), info.unit));
      }
    }
  }
  return names;
}

}  // namespace parshall
