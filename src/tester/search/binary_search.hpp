// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tester/search/search.hpp"

namespace parshall::tester {

/// Halves the interval between a load that meets one goal and one that does not, in trials of full length: the greatest
/// and the least load first, then the arithmetic mean of the bounds, until they are close enough.
/// Cost: two loads and one for each halving. Source: RFC 9971, section 5.1, on RFC 2544, section 24.
class BinarySearch final : public Search {
 public:
  static Result<std::unique_ptr<Search>> make(SearchPlan plan);

 private:
  using Search::Search;
  std::optional<TrialInput> wanted() override;
};

}  // namespace parshall::tester
