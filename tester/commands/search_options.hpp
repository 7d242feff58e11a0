// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/program.hpp"
#include "tester/commands/monitor_under_test.hpp"
#include "tester/commands/test_ends.hpp"
#include "tester/search/search.hpp"

namespace parshall::cli {

/// Options of `parshall test search`.
struct SearchOptions {
  EndOptions ends;
  TestTrafficOptions traffic;
  std::vector<std::string> sizes, goals, own_goals;
  std::string method = "mlr", least, most, settle = "1s", learn = "10s", format = "text", output = "-";
  std::size_t repeat = 1;
  std::optional<std::size_t> trials;
  std::string max_time;  ///< empty: no limit
  std::optional<double> width;
  std::optional<std::uint64_t> seed;
  std::optional<std::string> monitor;  ///< options of `parshall watch`; unset: a device is under test
  bool quiet = false;
};
void declare(Command command, SearchOptions& options);

/// Frames of one size for searches.
struct SizePlan {
  std::string size;  ///< size as in the traffic's setting
  TrafficSpec traffic;
};

/// Parsed search command.
struct SearchOrder {
  std::vector<SizePlan> sizes;  ///< in order
  std::string traffic;          ///< complete traffic description
  tester::SearchPlan search;    ///< loads of 0 are to be measured
  const tester::SearchMethod* method = nullptr;
  std::uint64_t settle_ns = 0, learn_ns = 0;
  std::uint64_t most_ns = 0;           ///< limit for everything; 0: no limit
  std::optional<MonitorPlan> monitor;  ///< unset: a device is under test
};

/// Parses the options. Errors are the user's.
Result<SearchOrder> order_search(const SearchOptions& options);

}  // namespace parshall::cli
