// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "tester/search/search_goal.hpp"
#include "tester/search/trial_log.hpp"

namespace parshall::tester {

/// A load, as a number of steps above the least one.
using GridLoad = std::int64_t;

struct GridBounds {
  std::optional<GridLoad> lower, upper;
};

/// Grid of loads in equal ratios. A relative width is a fixed number of steps at any load, can be halved exactly, and
/// goals meet at the same loads. Error: a width in steps is never wider than requested, and at most 1 % narrower.
class LoadGrid {
 public:
  LoadGrid(double min_load_pps, double max_load_pps, std::span<const SearchGoal> goals);

  GridLoad last() const noexcept { return last_; }  ///< the greatest load; the least is 0
  double load_pps(GridLoad load) const noexcept;
  GridLoad at_most(double load_pps) const noexcept;  ///< clipped to the grid
  GridBounds bounds(const RelevantBounds& bounds) const noexcept;
  /// Returns the number of steps, at least one.
  GridLoad steps(double width) const noexcept;

 private:
  double min_load_pps_, max_load_pps_;
  GridLoad last_ = 1;
  double step_ = 1;  ///< in the logarithm
};

}  // namespace parshall::tester
