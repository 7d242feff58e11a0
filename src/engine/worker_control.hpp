// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "control/controller.hpp"
#include "control/task_controller.hpp"
#include "engine/control_plan.hpp"
#include "engine/worker_load.hpp"
#include "pipeline/measure/states/flow_states.hpp"
#include "pipeline/measure/states/reduced_states.hpp"
#include "pipeline/measure/tasks/registry.hpp"
#include "pipeline/measure/windows/window_rows.hpp"

namespace parshall {

/// Results of the control. One thread writes, any may read.
struct ControlCounts {
  std::atomic<std::uint64_t> windows{0};
  std::atomic<std::uint64_t> shifted{0};     ///< windows in which flows were reduced
  std::atomic<std::uint64_t> infeasible{0};  ///< part of these in which everything was reduced, and it was not enough
  std::atomic<std::uint64_t> ns{0}, shifted_ns{0};
  std::atomic<std::uint64_t> shed_ns{0};                    ///< part of these in which only some flows were inspected
  std::atomic<std::uint64_t> most_one_in{1};                ///< n, where one in n connections was inspected
  std::atomic<std::uint64_t> cycles{0}, longest_cycles{0};  ///< cycles for deciding: in total, and longest
  std::atomic<double> residual{0};
  /// Time that each task was given up, in the order of RecallBoard; for tasks that can be reduced one by one.
  std::array<std::atomic<std::uint64_t>, TaskWork::kMostTasks> given_up_ns{};
  std::atomic<std::uint32_t> given_up{0};                 ///< bit i: task i is given up now
  std::atomic<double> looks_again_in_ns{0};               ///< time until these are tried again
  std::atomic<std::uint64_t> blind_satisfies_more_ns{0};  ///< see TaskController
};

/// Controls a worker: connects the traffic that comes with the states of flows.
class WorkerControl {
 public:
  WorkerControl(const ControlPlan& plan, const StatePlan& states);

  bool due(LinkPlace now) const noexcept { return now.latest_ns != 0 && length_.at(now) >= border_ns_; }

  /// Ends a window that is due. `weighed_packets` (of FlowTracker), `effective_packets`, `new_flows` and `rows` (of
  /// WindowRows) are totals since the start.
  void end_window(LinkPlace now, const WorkerLoad& load, std::span<const std::uint64_t> weighed_packets,
                  std::span<const std::uint64_t> effective_packets, std::uint64_t new_flows, std::uint64_t rows,
                  FlowStates& states) noexcept;

  const ControlCounts& counts() const noexcept { return counts_; }

  /// Returns n, where one in n connections is to be inspected.
  std::uint32_t one_in() const noexcept { return by_tasks_ ? by_tasks_->one_in() : controller_.one_in(); }

  /// Returns the expected cost of a packet in the last window, without inserting its flow; nullopt before the first
  /// window.
  std::optional<double> packet_ns() const noexcept;

 private:
  void take_since(std::span<const std::uint64_t> now, std::vector<std::uint64_t>& before,
                  std::vector<double>& since) noexcept;
  std::span<const GapRecovery::Task> tasks() noexcept;
  void install(FlowStates& states) noexcept;
  void install_tasks(FlowStates& states) noexcept;
  void decide_by_tasks(double elapsed_ns, const WorkerLoad& since, std::uint64_t new_flows, std::uint64_t rows,
                       FlowStates& states) noexcept;
  void weigh(double elapsed_ns, double busy_share, FlowStates& states) noexcept;
  void note(std::uint64_t window_ns, std::uint64_t cycles, bool any_came) noexcept;

  WindowLength length_;
  std::size_t batch_;
  std::shared_ptr<RecallBoard> recalls_;
  PacketTime packet_;  ///< as given, without new flows
  bool weighs_;
  Controller controller_;
  std::optional<TaskController> by_tasks_;  ///< replaces controller_
  ReducedStates reduced_;
  std::vector<std::uint32_t> parts_of_state_;
  std::vector<double> part_ns_, done_;
  std::uint64_t always_rows_ = 0;
  std::vector<TaskDemand> demands_;
  double weighed_ns_ = 0;  ///< since flows were weighed
  int weighings_ = 0;      ///< in a row; the second result is reliable
  static constexpr int kWeighedTwice = 2;
  Allocation installed_;
  std::vector<StateShares::Part> parts_;
  std::vector<GapRecovery::Task> tasks_;
  std::vector<std::uint64_t> told_;  ///< by task: RecallBoard's count at the last step
  std::uint64_t border_ns_ = 0, began_ns_ = 0;
  WorkerLoad load_;
  std::vector<std::uint64_t> weighed_before_, effective_before_;
  std::vector<double> weighed_packets_, state_packets_, effective_packets_;
  std::uint64_t new_flows_ = 0, rows_ = 0;
  bool began_any_ = false;
  ControlCounts counts_;
};

}  // namespace parshall
