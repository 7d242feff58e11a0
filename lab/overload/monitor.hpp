// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/flow_weight.hpp"
#include "control/events_by_weight.hpp"
#include "control/recall.hpp"
#include "lab/overload/costs.hpp"
#include "lab/overload/traffic.hpp"

namespace parshall::lab {

/// Tasks that follow flows, by state, weight and hash of the flow.
struct FollowedFlows {
  using ByWeight = std::array<std::array<TaskBits, OverloadTraffic::kHashes>, FlowWeight::kClasses>;

  std::array<ByWeight, OverloadTraffic::kMostStates> tasks;

  explicit FollowedFlows(TaskBits of_all = kAllTasks) {
    for (ByWeight& by_weight : tasks)
      for (auto& by_hash : by_weight) by_hash.fill(of_all);
  }
};

/// Work of a step of 10 ms.
struct StepWork {
  using ByWeight = std::array<double, FlowWeight::kClasses>;
  using ByState = std::array<ByWeight, OverloadTraffic::kMostStates>;  ///< by base state

  ByState packets{}, cold_packets{}, rows{};
  std::array<double, kAllTasks + 1> followed{};  ///< packets by the tasks that followed them
};

/// Flows in which a task found events in a window, with their number.
struct FoundEvent {
  std::uint32_t flow;
  std::uint16_t count;
};
using FoundEvents = std::array<std::vector<FoundEvent>, kOverloadTasks>;

/// Simulates what a worker does with each packet, what that takes, and what tasks find in windows of 10 ms: flows with
/// 0.1 % of the packets; segments seen again or acknowledged before; flows of 10 packets or more of which a tenth come
/// within 1 ms of the one before; round trips two standard deviations away from the mean of their flow.
class OverloadMonitor {
 public:
  static constexpr std::uint64_t kWindowNs = 10'000'000;
  using OnWindow = std::function<void(std::size_t window, const FoundEvents& found)>;

  OverloadMonitor(const OverloadTraffic& traffic, const PacketCosts& costs, OnWindow on_window)
      : traffic_(traffic), costs_(costs), on_window_(std::move(on_window)), flows_(traffic.flows()) {}

  void prefetch(std::uint32_t flow) const noexcept { __builtin_prefetch(&flows_[flow], 1); }
  /// Returns the time that the packet takes, in ns.
  double take(const OverloadTraffic::Packet& packet, const FollowedFlows& followed);

  void weigh() noexcept { ++weighings_; }
  StepWork end_step() noexcept { return std::exchange(work_, StepWork()); }
  void end_window();

  /// Estimates of a task's events, as RecallWatch tells the workers.
  struct Known {
    RecallByWeight estimator;
    EventsByWeight events;
    std::optional<double> recall = std::nullopt;  ///< in the last window
  };
  const Known& known(std::size_t task) const noexcept { return known_[task]; }
  std::uint8_t weight_of(std::uint32_t flow) const noexcept { return flows_[flow].weight; }

 private:
  /// A cache line: most of the time of a simulation is waiting for these.
  struct alignas(64) Flow {
    std::uint64_t last_ns = 0, segment_ns = 0;     ///< of the last packet, and of the latest segment; 0: unknown
    std::uint32_t segments = 0, acknowledged = 0;  ///< as far as seen; 0: unknown
    std::uint32_t seen_at = 0, followed_at = 0;    ///< number of the packet, to tell cold lines
    std::uint32_t window = ~std::uint32_t{0}, packets = 0;
    std::uint32_t round_trips = 0;
    float mean_ns = 0, squares = 0;  ///< of its round trips
    std::uint16_t weighed = 0;       ///< packets since it was weighed
    std::uint16_t bursts = 0, retransmissions = 0, changes = 0;
    std::uint8_t weight = 0, weighing = 0;
    TaskBits by_all : kOverloadTasks = 0, by_any : kOverloadTasks = 0;  ///< followed all, or any, of its packets
    bool is_followed : 1 = false, is_unacknowledged : 1 = false, is_again : 1 = false;
  };
  static_assert(sizeof(Flow) == 64);

  bool is_cold(std::uint32_t& at) noexcept;
  void weigh(Flow& flow) noexcept;
  double follow(const OverloadTraffic::Packet& packet, Flow& flow, Flow& peer, TaskBits tasks) noexcept;
  std::uint16_t events_of(const Flow& flow, std::size_t task) const noexcept;

  const OverloadTraffic& traffic_;
  PacketCosts costs_;
  OnWindow on_window_;
  std::vector<Flow> flows_;
  std::vector<std::uint32_t> in_window_;
  std::uint32_t window_ = 0, taken_ = 0, taken_in_window_ = 0;
  std::uint8_t weighings_ = 0;
  double followed_share_ = 0;  ///< of late
  StepWork work_;
  std::array<Known, kOverloadTasks> known_;
};

}  // namespace parshall::lab
