// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "tester/watch_loss/loss_run.hpp"

namespace parshall::cli {

/// Options of `parshall test watch-loss` as typed.
struct WatchLossOptions {
  std::string monitor, counts, drops, ready, settle = "1500ms";
  std::optional<Option> ready_option;  ///< tells an empty value from none
  std::vector<std::string> interfaces;
  std::string traffic = "flows=65536", rate = "100kpps", count = "200k";
  std::uint32_t burst = 1, runs = 10;
  std::string format = "text", output = "-";
  bool quiet = false;
};

void declare(Command command, WatchLossOptions& options);

/// Parses the options. Errors are the user's: exit status kUsage.
Result<tester::LossPlan> choose(const WatchLossOptions& options);

}  // namespace parshall::cli
