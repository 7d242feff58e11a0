// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>

namespace parshall::tester {

/// Jain's fairness index: 1 if all have the same, 1/n if one has all; none if all have nothing.
/// Source: Jain, Chiu, Hawe, "A quantitative measure of fairness and discrimination for resource allocation in shared
///         computer systems", DEC-TR-301, 1984.
class JainIndex {
 public:
  void add(double share) noexcept {
    sum_ += share;
    squares_ += share * share;
    ++count_;
  }
  std::optional<double> value() const noexcept {
    if (squares_ == 0) return std::nullopt;
    return sum_ * sum_ / (static_cast<double>(count_) * squares_);
  }

 private:
  double sum_ = 0, squares_ = 0;
  std::uint64_t count_ = 0;
};

inline std::optional<double> jain_index(std::span<const std::uint64_t> shares) noexcept {
  JainIndex index;
  for (const std::uint64_t share : shares) index.add(static_cast<double>(share));
  return index.value();
}

}  // namespace parshall::tester
