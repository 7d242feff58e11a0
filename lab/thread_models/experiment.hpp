// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/figures/estimate.hpp"
#include "base/result.hpp"
#include "engine/tables.hpp"
#include "engine/thread_models.hpp"
#include "lab/cores/scheduling.hpp"
#include "traffic/traffic.hpp"

namespace parshall::lab {

/// Parameters of `parshall bench models`; every combination is a row.
struct ModelSweep {
  std::vector<const ThreadModelEntry*> models;
  std::vector<std::size_t> workers;
  std::vector<const SchedulingPolicy*> schedulers;  ///< policies that are not refused

  std::string traffic;  ///< in the syntax of `-g`; for reports
  std::shared_ptr<const Trace> trace;
  std::size_t flows = 0;              ///< flows of the trace; capacity of every worker's table
  std::uint64_t packets = 8'000'000;  ///< per run
  int rounds = 15;
  std::uint64_t seed = 1;
  bool oversubscribe = false;         ///< allows more workers than cores
  const TableEntry* table = nullptr;  ///< not null
};

/// One combination.
struct ModelRow {
  const ThreadModelEntry* model;
  const SchedulingPolicy* scheduler;
  std::size_t workers;
  std::size_t cores;        ///< most cores that its threads ran on
  Estimate mpps;            ///< by the wall clock
  Estimate ratio;           ///< mpps relative to the first row's of the same round
  double cpu_ns = 0;        ///< per packet, over all threads of the process: median
  std::uint64_t lost = 0;   ///< packets over all runs
  PollGaps gaps;            ///< for its scheduler, with two polling threads on one core
  PollGaps gaps_alone;      ///< the same with one polling thread
  std::size_t samples = 0;  ///< number of rounds
};

/// Formats a name such as "pipeline, 2 workers, fifo".
std::string name_of(const ModelRow& row);

/// Runs every combination once unmeasured, then all in each round in a random order. Error: the counts of a run do not
/// balance or miss packets, or there are more workers than cores. `stop` is called before each run; rows cover the
/// rounds completed, and are empty if there were none.
Result<std::vector<ModelRow>> measure_models(const ModelSweep& sweep, const std::function<bool()>& stop);

}  // namespace parshall::lab
