// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

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

/// Decides every 10 ms which flows each task follows.
class SimulatedPolicy {
 public:
  virtual ~SimulatedPolicy() = default;

  virtual void end_step(const OverloadStep& step, const OverloadMonitor& monitor) = 0;
  virtual bool weighs() const noexcept = 0;
  const FollowedFlows& followed() const noexcept { return followed_; }

 protected:
  /// Makes tasks follow the flows whose hash is below their share; `share` is called with a task and a weight.
  template <class Share>
  void install(Share share) noexcept {
    for (std::size_t weight = 0; weight < FlowWeight::kClasses; ++weight)
      for (std::size_t hash = 0; hash < OverloadTraffic::kHashes; ++hash) {
        TaskBits tasks = 0;
        for (std::size_t task = 0; task < kOverloadTasks; ++task)
          tasks |= static_cast<TaskBits>((static_cast<double>(hash) < share(task, weight) * OverloadTraffic::kHashes)
                                         << task);
        followed_.tasks[weight][hash] = tasks;
      }
  }

  FollowedFlows followed_;
};

struct OverloadPolicyEntry {
  std::string_view name, help;
  /// `price_error`: factor of the costs of connections that the policy is given.
  std::unique_ptr<SimulatedPolicy> (*make)(const OverloadTraffic& traffic, const PacketCosts& costs,
                                           double price_error);
};

/// Returns all policies. The first is no adaptation, to which others are compared.
std::span<const OverloadPolicyEntry> overload_policies() noexcept;

}  // namespace parshall::lab
