// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tester/search/search.hpp"

namespace parshall::tester {

/// Bisects the interval between a load that meets the goal and one that does not, in trials of full length. It begins
/// with the greatest and the least load, then takes the arithmetic mean of the bounds until they are close enough.
/// Cost: two loads, and one for each bisection. Source: RFC 9971, section 5.1, on RFC 2544, section 24.
class BinarySearch final : public Search {
 public:
  static Result<std::unique_ptr<Search>> make(SearchPlan plan);

 private:
  using Search::Search;
  std::optional<TrialInput> wanted() override;
};

}  // namespace parshall::tester
