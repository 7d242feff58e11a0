// SPDX-License-Identifier: Apache-2.0
#include "parshall/marks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace parshall {
namespace {

constexpr std::string_view kUnknown = "unknown";
constexpr std::size_t kLocalCodePoints = 16;

constexpr Dscp local_code_point(std::size_t n) noexcept { return static_cast<Dscp>(4 * n + 3); }

/// Returns the position of a class in the plan; unknown flows come after all classes.
std::optional<std::size_t> place_of(std::string_view name, std::span<const std::string> classes) {
  const auto at = std::ranges::find(classes, name);
  if (at == classes.end() && name != kUnknown) return std::nullopt;
  return static_cast<std::size_t>(at - classes.begin());
}

}  // namespace

Result<MarkingPlan> plan_marks(std::span<const std::string> marks, std::span<const std::string> all_classes,
                               std::size_t by_sizes) {
  MarkingPlan plan(all_classes.size() + 1);
  const auto classes = all_classes.first(by_sizes);
  if (marks.empty()) {
    if (classes.size() > kLocalCodePoints)
      return Error{
          fmt::format("--forward: the model has {} classes, and {} code points are for local use: say with "
                      "--dscp CLASS=CODE,... which classes get which",
                      classes.size(), kLocalCodePoints)};
    for (std::size_t i = 0; i < classes.size(); ++i) plan[i] = local_code_point(i);
    return plan;
  }
  for (const std::string& mark : marks) {
    const std::size_t equals = mark.rfind('=');
    if (equals == std::string::npos) return Error{fmt::format("--dscp {}: give CLASS=CODE", mark)};
    const auto at = place_of(std::string_view(mark).substr(0, equals), classes);
    if (!at)
      return Error{fmt::format("--dscp {}: the model has no such class, but {}, and {}", mark, fmt::join(classes, ", "),
                               kUnknown)};
    const auto dscp = parse_dscp(std::string_view(mark).substr(equals + 1));
    if (!dscp)
      return Error{
          fmt::format("--dscp {}: a code is a number from 0 to 63, or CS0 to CS7, AF11 to AF43, EF, "
                      "VOICE-ADMIT, LE or DF",
                      mark)};
    auto& code = *at == classes.size() ? plan.back() : plan[*at];
    if (code) return Error{fmt::format("--dscp {}: the class has a code already", mark)};
    code = *dscp;
  }
  return plan;
}

std::string describe_marks(const MarkingPlan& plan, std::span<const std::string> classes) {
  std::vector<std::string> marks;
  for (std::size_t i = 0; i < plan.size(); ++i)
    if (plan[i])
      marks.push_back(
          fmt::format("{} {}", i < classes.size() ? std::string_view(classes[i]) : kUnknown, dscp_name(*plan[i])));
  return marks.empty() ? "none" : fmt::format("{}", fmt::join(marks, ", "));
}

}  // namespace parshall
