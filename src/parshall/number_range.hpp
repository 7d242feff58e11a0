// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <optional>

#include "base/result.hpp"

namespace parshall {

/// Range of a number, both ends included.
template <class T>
struct NumberRange {
  T least, most;
};

/// Returns an error if the value is outside the range, worded as the command line words it. NaN is outside every range.
template <class T>
std::optional<Error> range_problem(const char* name, T value, NumberRange<T> range) {
  if (value >= range.least && value <= range.most) return std::nullopt;
  return Error{fmt::format("--{} {}: give a number from {} to {}", name, value, range.least, range.most)};
}

}  // namespace parshall
