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

/// What `parshall test search` takes.
struct SearchOptions {
  EndOptions ends;
  TestTrafficOptions traffic;
  std::vector<std::string> sizes, goals, own_goals;
  std::string method = "mlr", least, most, settle = "1s", learn = "10s", format = "text", output = "-";
  std::size_t repeat = 1;
  std::optional<std::size_t> trials;
  std::string max_time;  ///< empty: as long as it takes
  std::optional<double> width;
  std::optional<std::uint64_t> seed;
  std::optional<std::string> monitor;  ///< options of `parshall watch`; nothing: a device is under test
  bool quiet = false;
};
void declare(Command command, SearchOptions& options);

/// Frames of one size that searches are made with.
struct SizePlan {
  std::string size;  ///< as the traffic's setting has it
  TrafficSpec traffic;
};

/// What is to be done.
struct SearchOrder {
  std::vector<SizePlan> sizes;  ///< one after the other
  std::string traffic;          ///< in full
  tester::SearchPlan search;    ///< the loads are 0 where they are to be measured
  const tester::SearchMethod* method = nullptr;
  std::uint64_t settle_ns = 0, learn_ns = 0;
  std::uint64_t most_ns = 0;           ///< for all of it; 0: as long as it takes
  std::optional<MonitorPlan> monitor;  ///< nothing: a device is under test
};

/// Errors are the user's.
Result<SearchOrder> order_search(const SearchOptions& options);

}  // namespace parshall::cli
