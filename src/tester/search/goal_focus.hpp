// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "tester/search/load_grid.hpp"
#include "tester/search/search_goal.hpp"
#include "tester/search/trial_log.hpp"

namespace parshall::tester {

/// A trial that a goal would have run.
struct GridTrial {
  GridLoad load = 0;
  double duration_s = 0;
};

/// What one of several goals wants next. It is reached by way of coarser targets, with shorter trials, less of them and
/// wider bounds: where those ended is where the next one looks first. From there it goes up or down in doubling steps
/// until it has both bounds, and halves what is between them.
/// Source: RFC 9971, section 1.1, enhancements 3 to 5, which leaves the rest to the implementation.
class GoalFocus {
 public:
  GoalFocus(const SearchGoal& goal, const LoadGrid& grid);

  /// Between loads that first trials found to be near the goal. Before anything else.
  void look_between(GridLoad lower, GridLoad upper);
  /// Nothing where the goal is reached; another trial may change that.
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
  std::vector<Target> targets_;  ///< from the coarsest to the goal itself
  std::size_t stage_ = 0;
  GridBounds hints_;   ///< where the target before ended: bounds of it, maybe not of this one
  GridLoad step_ = 1;  ///< of the next extension
  std::optional<Extension> extended_;
};

}  // namespace parshall::tester
