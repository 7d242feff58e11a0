// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace parshall {

/// What stands in a model's file for a number that there is none of.
inline constexpr std::string_view kNone = "none";

/// As a basic string of TOML. Source: TOML 1.0.0, "String".
std::string quoted(std::string_view text);

/// [1.5, "none"]: every digit, and NaN as kNone.
std::string listed(std::span<const double> numbers);

}  // namespace parshall
