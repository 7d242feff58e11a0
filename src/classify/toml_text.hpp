// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "base/toml_text.hpp"

namespace parshall {

/// Text for a missing number in a model's file.
inline constexpr std::string_view kNone = "none";

/// Returns a list such as [1.5, "none"], with every digit, and NaN as kNone.
std::string listed(std::span<const double> numbers);

}  // namespace parshall
