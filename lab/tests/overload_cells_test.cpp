// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "lab/overload/experiment.hpp"
#include "tests/thorough.hpp"

namespace parshall::lab {
namespace {

/// Returns the cells of `bench overload --quick` if there is time, otherwise five: each graph, load that swings and
/// load that stays, few flows, jitter and wrong prices are among them.
std::vector<OverloadCell> cells_to_simulate() {
  std::vector<OverloadCell> cells = overload_cells(/*quick=*/true);
  if (thorough()) return cells;
  std::erase_if(cells, [usual = OverloadCell()](const OverloadCell& cell) {
    if (cell.flows > usual.flows) return true;
    if (cell.flows < usual.flows || cell.jitter != usual.jitter || cell.price_error != usual.price_error) return false;
    return cell.swings || (cell.load == 1) != (cell.graph == OverloadGraph::chain);
  });
  return cells;
}

TEST(OverloadCells, AdaptationSatisfiesAsManyTasksAsNoAdaptationInEach) {
  const auto adapt = std::ranges::find(overload_policies(), "adapt", &OverloadPolicyEntry::name);
  ASSERT_NE(adapt, overload_policies().end());
  const OverloadSweep sweep{
      .policies = {&*adapt}, .cells = cells_to_simulate(), .length = {.warm_up_s = 0.5}, .rounds = 1};
  ASSERT_GE(sweep.cells.size(), 5u);
  std::size_t cells = 0;
  const auto simulated = simulate_overload(
      sweep,
      [&](std::span<const OverloadRow> rows) {
        ++cells;
        ASSERT_EQ(rows.size(), 2u);
        const OverloadCell& cell = rows[0].cell;
        EXPECT_TRUE(is_no_worse(rows[1], rows[0]))
            << (cell.graph == OverloadGraph::chain ? "chain" : "tree") << ", load " << cell.load
            << (cell.swings ? " at most" : "") << ", " << cell.flows << " flows: " << rows[1].by_flows() << " and "
            << rows[1].by_count() << " tasks by flows and by count, without adaptation " << rows[0].by_flows()
            << " and " << rows[0].by_count();
      },
      [] { return false; });
  ASSERT_TRUE(simulated);
  EXPECT_EQ(cells, sweep.cells.size());
}

}  // namespace
}  // namespace parshall::lab
