// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "engine/marking.hpp"

namespace parshall {

/// Builds a marking plan from CLASS=CODE words; a class that is not named keeps its code point. Without any words, the
/// n-th class gets the n-th code point for local use. Only the first `by_sizes` classes can be marked.
///
/// Source: RFC 2474, section 6, pool 2.
Result<MarkingPlan> plan_marks(std::span<const std::string> marks, std::span<const std::string> classes,
                               std::size_t by_sizes);

/// Formats the classes that are marked, such as "web AF21, dns EF"; returns "none" if no class is.
std::string describe_marks(const MarkingPlan& plan, std::span<const std::string> classes);

}  // namespace parshall
