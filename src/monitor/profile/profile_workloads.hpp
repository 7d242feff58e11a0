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
#include "monitor/profile/frames.hpp"
#include "pipeline/measure/states/state_plan.hpp"
#include "pipeline/measure/windows/window_rows.hpp"

namespace parshall::lab {

/// What a monitor does with every packet beyond counting it.
struct Workload {
  std::string name;
  std::vector<std::string> tasks;  ///< as a file of states has them; none of kinds of work
  std::vector<WindowPlan> windows;
  std::vector<FindingNeeds> findings = {{}};
  std::shared_ptr<const StatePlan> states = nullptr;
};

/// One for each state of the file, with every flow in it. Rows are as they are where the states are used together.
Result<std::vector<Workload>> workloads_of(const StateFile& file, const TaskOptions& options);

/// One for each kind of work that tasks can ask for, in windows of this length: rows alone, what is found out about
/// packets, and every measure that a field of a flow needs.
std::vector<Workload> kinds_of_work(WindowLength window);

struct WorkloadSweep {
  const TableEntry* table = nullptr;
  std::vector<Workload> workloads;
  std::size_t flows = 1 << 16;  ///< that tables are made for
  double rate_pps = 0;          ///< by the packets' times
  int rounds = 15;
  std::uint64_t seed = 1;
};

struct WorkloadCosts {
  Cost counting;                ///< of a packet in a monitor without tasks
  Cost input;                   ///< polling, decoding and the key's hash alone
  std::vector<Cost> workloads;  ///< of whole monitors, in order; ratios are to `counting`
};

/// Thread CPU time of monitors on the same packets, in interleaved rounds. A sample is of whole windows, so that each
/// has its part of telling what flows did in them; what the analyst's thread makes of that is not in it. Fails where a
/// monitor's account, or what it told of its windows, lacks a packet. Nothing when `stop` said so.
Result<std::optional<WorkloadCosts>> measure_workloads(const WorkloadSweep& sweep, const Frames& frames,
                                                       const std::function<bool()>& stop);

/// Packets of a sample: of whole windows, where they are not longer than kMostPackets.
struct SampleLength {
  static constexpr std::size_t kMostPackets = std::size_t{1} << 24;

  std::size_t packets;  ///< of a sample
  std::size_t part;     ///< after which what was told has to be read
  bool whole;           ///< whether every window ends in each sample
};
SampleLength sample_length(const std::vector<Workload>& workloads, double rate_pps);

/// How many packets the frames have to be for none to be played twice: the numbers of TCP connections would start over,
/// and all that comes would be taken for sent again.
std::size_t packets_wanted(const WorkloadSweep& sweep);

}  // namespace parshall::lab
