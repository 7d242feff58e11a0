// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace parshall {
namespace {

using Families = std::span<const StatisticFamily* const>;

/// Letters to insert, delete, replace or swap with the next to get from one word to the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> steps(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        steps[i][j] = i + j;
        continue;
      }
      steps[i][j] = std::min({steps[i - 1][j] + 1, steps[i][j - 1] + 1, steps[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) steps[i][j] = std::min(steps[i][j], steps[i - 2][j - 2] + 1);
    }
  }
  return steps[a.size()][b.size()];
}

std::string nearest_name(std::string_view text, Families families) {
  constexpr std::size_t kTypoLetters = 2;
  std::string nearest;
  std::size_t best = kTypoLetters + 1;
  for (std::size_t v = 0; v < kVariables; ++v) {
    const VariableInfo& info = kVariableInfo[v];
    for (const StatisticFamily* family : families) {
      if (!family->is_of(static_cast<Variable>(v))) continue;
      for (const Measure& measure : family->measures) {
        const std::string plain = fmt::format("{}_{}", info.name, measure.example);
        for (const std::string& name : {plain, fmt::format("{}_{}", plain, info.unit)}) {
          const std::size_t distance = edit_distance(text, name);
          if (distance >= best) continue;
          best = distance;
          nearest = plain;
        }
      }
    }
  }
  return nearest;
}

std::string list(const auto& things, auto name_of) {
  std::string text;
  for (const auto& thing : things) (text += text.empty() ? "" : ", ") += name_of(thing);
  return text;
}

Error unknown_name(std::string_view text, Families families) {
  const std::string variables = list(kVariableInfo, [](const VariableInfo& info) { return info.name; });
  const std::string patterns = list(families, [](const StatisticFamily* family) {
    return list(family->measures, [](const Measure& measure) { return measure.pattern; });
  });
  const std::string nearest = nearest_name(text, families);
  const std::string hint = nearest.empty() ? "" : fmt::format("; did you mean \"{}\"?", nearest);
  return Error{fmt::format(
      "unknown statistic \"{}\"{}\nknown: class, and <variable>_<what>, where variable is one of {} and what is one "
      "of {} (percentile "
      "above 0 and below 100, as in p99.9; flags have only first ones)",
      text, hint, variables, patterns)};
}

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
      return *understand(static_cast<Variable>(v), "1", families);
  for (std::size_t v = 0; v < kVariables; ++v) {
    const std::string_view variable = kVariableInfo[v].name;
    if (!text.starts_with(variable) || !text.substr(variable.size()).starts_with('_')) continue;
    auto name = understand(static_cast<Variable>(v), text.substr(variable.size() + 1), families);
    if (name) return *std::move(name);
  }
  return unknown_name(text, families);
}

}  // namespace parshall
