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
#include "generate/traffic.hpp"
#include "lab/scheduling.hpp"

namespace parshall::lab {

/// What `parshall bench models` varies: every combination is a row.
struct ModelSweep {
  std::vector<const ThreadModelEntry*> models;
  std::vector<std::size_t> workers;
  std::vector<const SchedulingPolicy*> schedulers;  ///< that are not refused

  std::string traffic;  ///< as `-g` spells it; for reports
  std::shared_ptr<const Trace> trace;
  std::size_t flows = 0;              ///< of the trace; every worker's table has room for as many
  std::uint64_t packets = 8'000'000;  ///< a run
  int rounds = 15;
  std::uint64_t seed = 1;
  bool oversubscribe = false;         ///< allow more workers than cores
  const TableEntry* table = nullptr;  ///< not null
};

/// One combination.
struct ModelRow {
  const ThreadModelEntry* model;
  const SchedulingPolicy* scheduler;
  std::size_t workers;
  std::size_t cores;        ///< that its threads ran on, at most
  Estimate mpps;            ///< by the wall clock
  Estimate ratio;           ///< of mpps to the first row's of the same round
  double cpu_ns = 0;        ///< per packet, over all threads of the process: median
  std::uint64_t lost = 0;   ///< packets, over all runs
  PollGaps gaps;            ///< of its scheduler, where two threads poll on one core
  PollGaps gaps_alone;      ///< likewise, where one does
  std::size_t samples = 0;  ///< rounds
};

/// "pipeline, 2 workers, fifo"
std::string name_of(const ModelRow& row);

/// Runs every combination once unmeasured, then all in each round, in an order of its own. What a run counted has to
/// balance and to be all packets: else it is an error, and so are more workers than cores. `stop` is asked before each
/// run; the rows are of the rounds that were done, none where none was.
Result<std::vector<ModelRow>> measure_models(const ModelSweep& sweep, const std::function<bool()>& stop);

}  // namespace parshall::lab
