// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace parshall {

/// Returns a number with its noun: "1 packet", "2 packets". `many` is the plural where adding an "s" is not enough.
inline std::string counted(std::uint64_t number, std::string_view one, std::string_view many = "") {
  if (number == 1) return fmt::format("1 {}", one);
  return many.empty() ? fmt::format("{} {}s", number, one) : fmt::format("{} {}", number, many);
}

}  // namespace parshall
