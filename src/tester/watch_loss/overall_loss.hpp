// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "tester/watch_loss/loss_run.hpp"

namespace parshall::tester {

/// What a monitor lost in all runs together.
struct OverallLoss {
  std::uint64_t offered = 0, lost = 0;
  std::size_t mixed = 0;  ///< runs whose loss is not known: then none of the values below is
  std::optional<double> ratio;
  std::optional<double> low, high;      ///< 95 %, Student's t over runs; nothing of one run, or where nothing was lost
  std::optional<double> upper_of_none;  ///< 95 %, where nothing was lost: there is no spread to reckon by
};
OverallLoss overall_loss(std::span<const MonitorRun> runs);

}  // namespace parshall::tester
