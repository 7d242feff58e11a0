// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/names.hpp"

#include <fmt/format.h>

#include <optional>

#include "base/suggestion.hpp"

namespace parshall {
namespace {

using Families = std::span<const StatisticFamily* const>;

std::optional<StatisticName> understand(Variable variable, std::string_view rest, Families families) {
  const VariableInfo& info = info_of(variable);
  const std::string unit = fmt::format("_{}", info.unit);
  const bool with_unit = !info.unit.empty() && rest.ends_with(unit);
  if (with_unit) rest.remove_suffix(unit.size());
  for (const StatisticFamily* family : families) {
    if (!family->is_of(variable)) continue;
    const auto known = family->find(rest);
    if (!known || (with_unit && !known->measure->has_unit)) continue;
    return StatisticName{variable, family, known->what, make_column(variable, known->what, *known->measure).name};
  }
  return std::nullopt;
}

}  // namespace

Result<StatisticName> parse_statistic_name(std::string_view text, Families families) {
  for (std::size_t v = kPlainVariables; v < kVariables; ++v)
    if (text == kVariableInfo[v].name && is_of_side(static_cast<Variable>(v)) && !kVariableInfo[v].is_amount)
      if (auto name = understand(static_cast<Variable>(v), "1", families)) return *std::move(name);
  for (std::size_t v = 0; v < kVariables; ++v) {
    const std::string_view variable = kVariableInfo[v].name;
    if (!text.starts_with(variable) || !text.substr(variable.size()).starts_with('_')) continue;
    auto name = understand(static_cast<Variable>(v), text.substr(variable.size() + 1), families);
    if (name) return *std::move(name);
  }
  return Error{fmt::format("unknown statistic \"{}\"{}", text,
                           suggestion(text, statistic_names(families), "parshall list statistics"))};
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
