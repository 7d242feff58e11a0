// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "engine/marking.hpp"

namespace parshall {

/// `marks`: CLASS=CODE, where a class that is not named keeps what it has. None: the n-th class gets the n-th code
/// point for local use.
///
/// Source: RFC 2474, section 6, pool 2.
Result<MarkingPlan> plan_marks(std::span<const std::string> marks, std::span<const std::string> classes);

/// "web AF21, dns EF": the classes that are marked; "none" where none is.
std::string describe_marks(const MarkingPlan& plan, std::span<const std::string> classes);

}  // namespace parshall
