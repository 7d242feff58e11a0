// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/control_plan.hpp"
#include "engine/worker_load.hpp"
#include "pipeline/measure/states/flow_states.hpp"
#include "pipeline/measure/states/reduced_states.hpp"
#include "pipeline/measure/windows/window_rows.hpp"

namespace parshall {

/// Results of the control. One thread writes, any may read.
struct ControlCounts {
  std::atomic<std::uint64_t> windows{0};
  std::atomic<std::uint64_t> reduced{0};     ///< windows in which a task left out flows
  std::atomic<std::uint64_t> infeasible{0};  ///< windows in which packets took too long, whatever tasks left out
  std::atomic<std::uint64_t> ns{0}, reduced_ns{0};
  std::atomic<std::uint64_t> cycles{0}, longest_cycles{0};  ///< cycles for deciding: in total, and longest
  std::atomic<double> factor{1};                            ///< as in OverloadState
  /// Time that each group of tasks was given up.
  std::array<std::atomic<std::uint64_t>, ReducedStates::kMostTasks> given_up_ns{};
  std::atomic<std::uint32_t> given_up{0};  ///< bit i: group i is given up now
};

/// Controls a worker: tells its policy about the traffic, and installs what the policy decides.
class WorkerControl {
 public:
  WorkerControl(std::shared_ptr<const ControlPlan> plan, const StatePlan& states);

  bool due(LinkPlace now) const noexcept { return now.latest_ns != 0 && length_.at(now) >= border_ns_; }

  /// Ends a window that is due. `weighed_packets` (of FlowTracker), `effective_packets`, `new_flows` and `rows` (of
  /// WindowRows) are totals since the start.
  void end_window(LinkPlace now, const WorkerLoad& load, std::span<const std::uint64_t> weighed_packets,
                  std::span<const std::uint64_t> effective_packets, std::uint64_t new_flows, std::uint64_t rows,
                  FlowStates& states) noexcept;

  const ControlCounts& counts() const noexcept { return counts_; }

  /// Returns the expected cost of a packet in the last window, without inserting its flow; nullopt before the first
  /// window.
  std::optional<double> packet_ns() const noexcept;

 private:
  void ask_policy(double elapsed_ns, const WorkerLoad& since, std::uint64_t new_flows, FlowStates& states) noexcept;
  void sum_up(std::uint64_t rows) noexcept;
  void ask_board() noexcept;
  void install(FlowStates& states) const noexcept;
  void weigh(double elapsed_ns, double busy_share, FlowStates& states) noexcept;
  void note(std::uint64_t window_ns, std::uint64_t cycles, bool any_came) noexcept;

  std::shared_ptr<const ControlPlan> held_;
  const ControlPlan& plan_;
  WindowLength length_;
  std::unique_ptr<OverloadPolicy> policy_;  ///< null: no flow is left out
  std::vector<FollowedTask> groups_;
  std::vector<double> done_;  ///< by part of the work, in the last window
  double weighed_ns_ = 0;     ///< since flows were weighed
  int weighings_ = 0;         ///< in a row; the second result is reliable
  static constexpr int kWeighedTwice = 2;
  std::uint64_t border_ns_ = 0, began_ns_ = 0;
  WorkerLoad load_;
  std::vector<std::uint64_t> weighed_before_, effective_before_;
  std::vector<double> weighed_packets_, effective_packets_;  ///< in the last window
  std::uint64_t new_flows_ = 0, rows_ = 0;
  bool began_any_ = false;
  ControlCounts counts_;
};

}  // namespace parshall
