// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/figures/harness.hpp"
#include "base/result.hpp"
#include "engine/tables.hpp"
#include "lab/profile/frames.hpp"
#include "pipeline/measure/states/state_plan.hpp"
#include "pipeline/measure/windows/window_rows.hpp"

namespace parshall::lab {

/// Work that a monitor does for every packet beyond counting it.
struct Workload {
  std::string name;
  std::vector<std::string> tasks;  ///< in the syntax of a states file; empty for kinds of work
  std::vector<WindowPlan> windows;
  std::vector<FindingNeeds> findings = {{}};
  std::shared_ptr<const StatePlan> states = nullptr;
};

/// Returns one workload for each state of the file, with every flow in that state. Rows have the layout for using the
/// states together.
Result<std::vector<Workload>> workloads_of(const StateFile& file, const TaskOptions& options);

/// Returns one workload for each kind of work that tasks can ask for, in windows of this length. The kinds are rows
/// alone, findings about packets, and every measure that a field of a flow needs.
std::vector<Workload> kinds_of_work(WindowLength window);

struct WorkloadSweep {
  const TableEntry* table = nullptr;
  std::vector<Workload> workloads;
  std::size_t flows = 1 << 16;  ///< capacity of the tables
  double rate_pps = 0;          ///< rate by packet time
  int rounds = 15;
  std::uint64_t seed = 1;
};

struct WorkloadCosts {
  Cost counting;                ///< cost of a packet in a monitor without tasks
  Cost input;                   ///< cost of polling, decoding and hashing the key alone
  std::vector<Cost> workloads;  ///< costs of whole monitors, in order; ratios are to `counting`
};

/// Measures the thread CPU time of monitors on the same packets, in interleaved rounds. A sample consists of whole
/// windows, so that each includes reporting their flows; the analyst's thread is not included. Returns nullopt if
/// `stop` returned true. Error: a packet is missing from a monitor's account or from its windows.
Result<std::optional<WorkloadCosts>> measure_workloads(const WorkloadSweep& sweep, const Frames& frames,
                                                       const std::function<bool()>& stop);

/// Length of a sample in packets: whole windows, unless these are longer than kMostPackets.
struct SampleLength {
  static constexpr std::size_t kMostPackets = std::size_t{1} << 24;

  std::size_t packets;  ///< packets of a sample
  std::size_t part;     ///< packets after which window messages must be read
  bool whole;           ///< true: every window ends in each sample
};
SampleLength sample_length(const std::vector<Workload>& workloads, double rate_pps);

/// Returns how many packets the frames need so that none is played twice. A repetition would restart the sequence
/// numbers of TCP connections, and all its packets would count as retransmissions.
std::size_t packets_wanted(const WorkloadSweep& sweep);

}  // namespace parshall::lab
