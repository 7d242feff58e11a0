// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <optional>
#include <type_traits>

#include "base/result.hpp"

namespace parshall {

/// What a number can be, both ends included.
template <class T>
struct NumberRange {
  T least, most;
};

/// In the words of the command line, which looks at what was typed before it is a number. NaN is in no range.
template <class T>
std::optional<Error> range_problem(const char* name, T value, NumberRange<T> range) {
  if (value >= range.least && value <= range.most) return std::nullopt;
  if constexpr (std::is_floating_point_v<T>)
    return Error{fmt::format("--{}: Value {} not in range {:f} to {:f}", name, value, range.least, range.most)};
  else
    return Error{fmt::format("--{}: Value {} not in range {} to {}", name, value, range.least, range.most)};
}

}  // namespace parshall
