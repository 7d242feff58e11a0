// SPDX-License-Identifier: Apache-2.0
#include "tester/search/binary_search.hpp"
#include "tester/search/mlr_search.hpp"
#include "tester/search/search.hpp"

namespace parshall::tester {

std::span<const SearchMethod> search_methods() noexcept {
  static constexpr SearchMethod kMethods[] = {
      {"mlr", "several goals at once, from short trials to long ones (RFC 9971)", MlrSearch::make},
      {"binary", "one goal, halving in trials of full length (RFC 2544)", BinarySearch::make},
  };
  return kMethods;
}

}  // namespace parshall::tester
