// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "base/toml_text.hpp"

namespace parshall {

/// What stands in a model's file for a number that there is none of.
inline constexpr std::string_view kNone = "none";

/// [1.5, "none"]: every digit, and NaN as kNone.
std::string listed(std::span<const double> numbers);

}  // namespace parshall
