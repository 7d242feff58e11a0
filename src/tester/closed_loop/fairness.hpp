// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>

namespace parshall::tester {

/// 1: all have the same; 1/n: one has all. Nothing where nobody has anything.
/// Source: Jain, Chiu, Hawe, "A quantitative measure of fairness and discrimination for resource allocation in shared
///         computer systems", DEC-TR-301, 1984.
inline std::optional<double> jain_index(std::span<const std::uint64_t> shares) noexcept {
  double sum = 0, squares = 0;
  for (const std::uint64_t share : shares) {
    const auto x = static_cast<double>(share);
    sum += x;
    squares += x * x;
  }
  if (squares == 0) return std::nullopt;
  return sum * sum / (static_cast<double>(shares.size()) * squares);
}

}  // namespace parshall::tester
