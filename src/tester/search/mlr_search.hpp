// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "tester/search/goal_focus.hpp"
#include "tester/search/load_grid.hpp"
#include "tester/search/search.hpp"

namespace parshall::tester {

/// Multiple loss ratio search: several goals at once, from short trials to long ones. The greatest load comes first,
/// then what was forwarded of it; from there each goal has its focus, and the least load that any of them wants is
/// tried next. Source: RFC 9971; where it leaves the choice of trials open, much as its reference does
/// (MLRsearch 1.2.1).
class MlrSearch final : public Search {
 public:
  static Result<std::unique_ptr<Search>> make(SearchPlan plan);

 private:
  explicit MlrSearch(SearchPlan plan);

  std::optional<TrialInput> wanted() override;
  /// Which of the first trials is next; nothing after them.
  std::optional<GridLoad> first_trial() const;
  GridLoad forwarded(const TrialOutcome& outcome) const;
  void focus_all();

  LoadGrid grid_;
  std::vector<GoalFocus> focuses_;  ///< of each goal
  GridLoad width_ = 1;              ///< below which first trials need not lie apart
  double first_duration_s_ = 0;
  double least_loss_ratio_ = 1;
  bool is_focused_ = false;
};

}  // namespace parshall::tester
