// SPDX-License-Identifier: Apache-2.0
#include "engine/flow_tally.hpp"

#include <algorithm>
#include <utility>

#include "pipeline/measure/statistics/flow_class.hpp"

namespace parshall {

FlowTally::FlowTally(const StatisticSet* statistics) {
  if (statistics == nullptr || !statistics->classifies()) return;
  constexpr std::size_t kUnknownAndTooShort = 2;
  const std::size_t known =
      std::ranges::find(statistics->columns(), FlowClass::kName, &Column::name)->values.size() - 1;
  classes.resize(known + kUnknownAndTooShort);
}

void FlowTally::clear() noexcept {
  auto room = std::move(classes);
  std::ranges::fill(room, ClassCounts());
  static_cast<StageCounts&>(*this) = {};
  classes = std::move(room);
}

}  // namespace parshall
