// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "tester/watch_loss/loss_run.hpp"

namespace parshall::cli {

/// Results of `parshall test watch-loss`, for a report.
struct LossSummary {
  std::string command, monitor, sender;
  std::vector<tester::MonitorRun> runs;
};
std::string loss_text(const LossSummary& summary);
std::string loss_json(const LossSummary& summary);

}  // namespace parshall::cli
