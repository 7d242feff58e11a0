// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "lab/overload/bound.hpp"
#include "lab/overload/costs.hpp"
#include "lab/overload/monitor.hpp"
#include "lab/overload/policy.hpp"
#include "lab/overload/traffic.hpp"

namespace parshall::lab {

/// Conditions of a simulated worker.
struct OverloadCell {
  OverloadGraph graph = OverloadGraph::chain;
  bool swings = true;    ///< true: between load 1 and the load, within a second
  double load = 1;       ///< times the rate for which all tasks take 95 % of the time
  double noise = 0.08;   ///< standard deviation of what packets take, over some 0.7 s
  double jitter = 0.02;  ///< the same, from step to step
  std::uint32_t flows = 250'000;
  double price_error = 1;  ///< factor of the costs of connections that the policy is given
};

/// Share of the windows in which each task is satisfied.
struct OverloadOutcome {
  using ByTask = std::array<double, kOverloadTasks>;

  ByTask by_flows{};  ///< recall and precision of the flows that have events are at least 0.75
  ByTask by_count{};  ///< at least 0.75 of the events are found; bursts and heavy hitters are flows here, too
  double lost_share = 0;

  static double sum(const ByTask& of) noexcept { return of[0] + of[1] + of[2] + of[3]; }
};

/// Simulates one worker, packet by packet: a queue of 4096 packets in batches of 256, costs, what tasks find, and a
/// policy that decides every 10 ms. The same arguments give the same outcome.
///
/// Shape:  one object for each traffic and load; runs share it, also at the same time.
/// Cost:   about 50 ns for each simulated packet; 90 bytes a flow for each run.
class OverloadSimulation {
 public:
  struct Length {
    double warm_up_s = 1, judged_s = 1;
  };

  OverloadSimulation(const OverloadTraffic& traffic, const OverloadCell& cell, const PacketCosts& costs, Length length,
                     std::uint64_t seed);

  OverloadOutcome run(const OverloadPolicyEntry& policy) const;
  /// Returns how many tasks a policy that knows what comes could satisfy in the mean window: most_satisfied().
  double bound(EventMeasure measure) const;
  double load_1_pps() const noexcept { return load_1_pps_; }

 private:
  class Arrivals;

  double load_1() const;
  void find_truth();
  WindowWork work_of(const StepWork& step, const OverloadMonitor& monitor) const;

  const OverloadTraffic& traffic_;
  OverloadCell cell_;
  PacketCosts costs_;
  std::size_t first_judged_, windows_;
  double load_1_pps_;
  std::vector<double> factors_;  ///< of what packets take, by step
  std::vector<FoundEvents> truth_;
  std::vector<WindowWork> work_;  ///< of the windows in truth_
};

}  // namespace parshall::lab
