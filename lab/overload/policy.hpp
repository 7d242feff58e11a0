// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "control/overload_policy.hpp"
#include "lab/overload/costs.hpp"
#include "lab/overload/monitor.hpp"
#include "lab/overload/traffic.hpp"

namespace parshall::lab {

/// Observations of a worker in a step. Counts are packets.
struct OverloadStep {
  double step_ns = 0, busy_ns = 0;
  std::uint64_t offered = 0, counted = 0, missed = 0;
  StepWork work;
};

/// A policy that decides every 10 ms which flows each simulated task follows, as WorkerControl asks it.
class SimulatedPolicy {
 public:
  /// `price_error`: factor of the costs of connections that the policy is given.
  SimulatedPolicy(const OverloadPolicyEntry& entry, const OverloadTraffic& traffic, const PacketCosts& costs,
                  double price_error);

  void end_step(const OverloadStep& step, const OverloadMonitor& monitor);
  bool weighs() const noexcept { return policy_ != nullptr; }
  const FollowedFlows& followed() const noexcept { return followed_; }

 private:
  void install() noexcept;

  const OverloadTraffic& traffic_;
  std::unique_ptr<OverloadPolicy> policy_;  ///< null: all tasks follow all flows
  std::vector<FollowedTask> tasks_;
  FollowedFlows followed_;
};

}  // namespace parshall::lab
