// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace parshall {

/// Returns a number and what it is of: "1 packet", "2 packets"; `many` where the plural takes more than an s.
inline std::string counted(std::uint64_t number, std::string_view one, std::string_view many = "") {
  if (number == 1) return fmt::format("1 {}", one);
  return many.empty() ? fmt::format("{} {}s", number, one) : fmt::format("{} {}", number, many);
}

}  // namespace parshall
