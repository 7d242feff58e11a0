// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "tester/search/load_grid.hpp"
#include "tester/search/search_goal.hpp"
#include "tester/search/trial_log.hpp"

namespace parshall::tester {

/// A trial that a goal asks for.
struct GridTrial {
  GridLoad load = 0;
  double duration_s = 0;
};

/// Decides the next trial for one of several goals. The goal is approached through coarser targets, with shorter and
/// fewer trials and wider bounds; each target starts at the result of the one before. From there the load moves up or
/// down in doubling steps until both bounds are known; then the interval is bisected.
/// Source: RFC 9971, section 1.1, enhancements 3 to 5, which leaves the rest to the implementation.
class GoalFocus {
 public:
  GoalFocus(const SearchGoal& goal, const LoadGrid& grid);

  /// Sets the loads that the first trials found to be near the goal. Call it before anything else.
  void look_between(GridLoad lower, GridLoad upper);
  /// Returns the next trial, or nullopt if the goal is reached; a further trial may change that.
  std::optional<GridTrial> nominate(const TrialLog& log);

  GridLoad coarsest_width() const noexcept { return targets_.front().width; }

 private:
  struct Target {
    SearchGoal goal;
    GridLoad width = 1;
  };
  enum class Direction { up, down };
  struct Extension {
    GridLoad load = 0;
    Direction direction = Direction::up;
  };

  const Target& target() const noexcept { return targets_[stage_]; }
  std::optional<GridLoad> candidate(const GridBounds& bounds);
  std::optional<GridLoad> hinted(const GridBounds& bounds) const;
  GridLoad extend(GridLoad load, Direction direction);
  GridLoad middle(GridLoad lower, GridLoad upper) const noexcept;
  void widen_after_extension(const GridBounds& bounds) noexcept;

  LoadGrid grid_;
  std::vector<Target> targets_;  ///< coarsest first; the goal itself is last
  std::size_t stage_ = 0;
  GridBounds hints_;   ///< result of the previous target: its bounds, perhaps not of this one
  GridLoad step_ = 1;  ///< size of the next extension
  std::optional<Extension> extended_;
};

}  // namespace parshall::tester
