// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "tester/search/goal_focus.hpp"
#include "tester/search/load_grid.hpp"
#include "tester/search/search.hpp"

namespace parshall::tester {

/// Multiple loss ratio search: serves several goals at once, from short trials to long ones. The first trial is at the
/// greatest load, the next at the load forwarded in it. From there each goal has a focus, and the least load that any
/// of them wants is tried next. Source: RFC 9971. Where it leaves the choice of trials open, this mostly follows its
/// reference (MLRsearch 1.2.1).
class MlrSearch final : public Search {
 public:
  static Result<std::unique_ptr<Search>> make(SearchPlan plan);

 private:
  explicit MlrSearch(SearchPlan plan);

  std::optional<TrialInput> wanted() override;
  /// Returns the next of the first trials; nullopt after them.
  std::optional<GridLoad> first_trial() const;
  GridLoad forwarded(const TrialOutcome& outcome) const;
  void focus_all();

  LoadGrid grid_;
  std::vector<GoalFocus> focuses_;  ///< one for each goal
  GridLoad width_ = 1;              ///< first trials closer than this are not needed
  double first_duration_s_ = 0;
  double least_loss_ratio_ = 1;
  bool is_focused_ = false;
};

}  // namespace parshall::tester
