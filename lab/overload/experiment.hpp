// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/figures/figures.hpp"
#include "base/result.hpp"
#include "lab/overload/policy.hpp"
#include "lab/overload/simulation.hpp"

namespace parshall::lab {

struct OverloadSweep {
  std::vector<const OverloadPolicyEntry*> policies;  ///< beside no adaptation, which is always simulated
  std::vector<OverloadCell> cells;
  OverloadSimulation::Length length;
  int rounds = 3;  ///< each with other traffic and noise
  std::uint64_t seed = 1;
};

/// Returns all cells, or the twelve that suffice for a quick look.
std::vector<OverloadCell> overload_cells(bool quick);

/// A policy in a cell. Figures are means over the rounds.
struct OverloadRow {
  const OverloadPolicyEntry* policy;
  OverloadCell cell;
  double load_1_pps = 0;
  OverloadOutcome mean;
  double worst_by_flows = 0, worst_by_count = 0;  ///< sums of the worst rounds
  double bound_by_flows = 0, bound_by_count = 0;  ///< OverloadSimulation::bound()

  double by_flows() const noexcept { return OverloadOutcome::sum(mean.by_flows); }
  double by_count() const noexcept { return OverloadOutcome::sum(mean.by_count); }
};

/// Returns true if a policy satisfies as many tasks as no adaptation: by count within 0.05, by flows within 0.1.
bool is_no_worse(const OverloadRow& row, const OverloadRow& none) noexcept;

/// Simulates all policies in each cell, on all cores. Passes on the rows of a cell once they and those of the cells
/// before are done: first no adaptation.
Result<std::size_t> simulate_overload(const OverloadSweep& sweep,
                                      const std::function<void(std::span<const OverloadRow>)>& done,
                                      const std::function<bool()>& stop);

std::span<const Column> overload_columns() noexcept;
Part overload_part(std::span<const OverloadRow> rows);

}  // namespace parshall::lab
