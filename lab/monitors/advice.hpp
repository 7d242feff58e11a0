// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/monitors/experiment.hpp"
#include "lab/profile/frames.hpp"

namespace parshall::lab {

/// Requirements of a monitor.
struct Wish {
  double merges = 0;  ///< expected pairs of flows counted as one that may be; 0: whole keys are compared
  std::uint64_t memory_bytes = ~std::uint64_t{0};  ///< of all workers' tables and rows, at most
  std::size_t cores = 1;                           ///< for workers
  double rate_pps = 0;                             ///< to be kept up with; 0: not known
  std::vector<std::string> statistics;
  int rounds = 9;
  std::uint64_t seed = 1;
};

/// How to run `parshall watch` for such traffic, and the figures behind it.
struct Advice {
  std::string traffic;
  std::size_t flows = 0;     ///< seen
  std::size_t capacity = 0;  ///< of a worker's table: half as many flows more
  std::size_t workers = 1;
  MonitorUnderTest monitor;  ///< table, identity, statistics and batch
  std::vector<std::string> reasons;
  std::vector<MonitorRow> tables, batches;
};

/// The cheapest of those that are `fit`; of others whose interval overlaps its own, the one named `preferred`, else the
/// one that takes the least memory. Null where none is fit. `reason` says which it was.
const MonitorRow* choose(std::span<const MonitorRow> rows, const std::function<bool(const MonitorRow&)>& fit,
                         const std::function<bool(const MonitorRow&)>& preferred, std::string& reason);

/// Measures all tables on the traffic, then the batch sizes of the chosen one. Only a table that `parshall watch` has
/// is chosen; the others are measured for comparison. `progress` receives a line per step.
/// Error: no table fits the wish. Returns no advice when `stop` returned true.
Result<std::optional<Advice>> advise(const Wish& wish, const Frames& frames, const std::string& traffic,
                                     const std::function<void(const std::string&)>& progress,
                                     const std::function<bool()>& stop);

/// As a file for `watch --config`, the figures in its comments.
std::string to_toml(const Advice& advice);

}  // namespace parshall::lab
