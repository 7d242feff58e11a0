// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "tester/watch_loss/loss_run.hpp"

namespace parshall::tester {

/// Loss of a monitor over all runs.
struct OverallLoss {
  std::uint64_t offered = 0, lost = 0;
  std::size_t mixed = 0;  ///< runs of unknown loss; if there are any, none of the values below is known
  std::optional<double> ratio;
  std::optional<double> low, high;      ///< 95 %, Student's t over runs; unset for one run, or if nothing was lost
  std::optional<double> upper_of_none;  ///< 95 %, if nothing was lost: there is no spread to compute with
};
OverallLoss overall_loss(std::span<const MonitorRun> runs);

}  // namespace parshall::tester
