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

#include "base/choices.hpp"
#include "base/result.hpp"
#include "control/controller.hpp"
#include "control/profile.hpp"
#include "control/task_controller.hpp"
#include "engine/recall_board.hpp"
#include "engine/worker_load.hpp"
#include "pipeline/measure/states/flow_states.hpp"
#include "pipeline/measure/states/reduced_states.hpp"
#include "pipeline/measure/tasks/registry.hpp"
#include "pipeline/measure/windows/window_rows.hpp"

namespace parshall {

/// As options call it.
std::string_view name_of(Controller::Mode mode) noexcept;

/// How a worker's flows give way when time is short.
struct ControlPlan {
  Controller::Options controller;
  ControlPolicy policy = ControlPolicy::mona;
  Preference prefer = Preference::packets;      ///< of ControlPolicy::tasks
  ReducedStates reduced;                        ///< of ControlPolicy::tasks, as what follows
  static constexpr std::uint32_t kRowPart = 1;  ///< a part: that a flow has a row in its window
  std::vector<double> part_ns;                  ///< of a packet that a part of the work is done for; first, of a row
  std::vector<std::uint32_t> parts_of_state;    ///< bit j: the j-th part; of all states of `reduced`
  std::uint64_t always_rows = 0;                ///< bit i: all flows of base state i have one, whatever gives way
  std::vector<TaskDemand> demands;              ///< by task of `reduced`: what does not change
  std::uint64_t window_ns = 10'000'000;
  std::size_t batch = 256;            ///< that a source is asked for
  PacketTime packet;                  ///< the rest of what a packet takes
  std::vector<double> cost_ns;        ///< of the tasks of each state, for a packet
  std::vector<std::uint8_t> lighter;  ///< StatePlan::lighter, without steps that save no time
  std::shared_ptr<RecallBoard> recalls = std::make_shared<RecallBoard>();

  /// Rough costs, which are corrected while packets come. `windows`, `findings`: of the run's tasks, by state.
  static ControlPlan guess(const StatePlan& states, std::span<const WindowPlan> windows,
                           std::span<const FindingNeeds> findings);

  /// Takes what was measured of the same states on this machine. Fails where a state is not in it or does other tasks:
  /// `tasks` is by state.
  std::optional<Error> use(const Profile& profile, const StatePlan& states,
                           const std::vector<std::vector<std::string>>& tasks);

  /// Has tasks give way one by one. `windows`, `findings`: of all states of `reduced`.
  void use(ReducedStates states, const TaskSets& tasks, std::span<const WindowPlan> windows,
           std::span<const FindingNeeds> findings);
  bool by_tasks() const noexcept {
    return policy == ControlPolicy::tasks && controller.mode == Controller::Mode::recover;
  }

  /// What tasks miss when flows give way is to be told.
  void watch(const TaskSets& tasks);

  Result<StateGraph> graph(const StatePlan& states) const;

 private:
  void leave_out_steps(const StatePlan& states);
};

/// What came of it. One thread writes, any may read.
struct ControlCounts {
  std::atomic<std::uint64_t> windows{0};
  std::atomic<std::uint64_t> shifted{0};     ///< windows, in which flows gave way
  std::atomic<std::uint64_t> infeasible{0};  ///< of these: all gave way, and it was not enough
  std::atomic<std::uint64_t> ns{0}, shifted_ns{0};
  std::atomic<std::uint64_t> shed_ns{0};                    ///< of these, only some flows were looked at
  std::atomic<std::uint64_t> most_one_in{1};                ///< connections, of which one was
  std::atomic<std::uint64_t> cycles{0}, longest_cycles{0};  ///< of deciding: in all, and once
  std::atomic<double> residual{0};
  /// Of each that can give way one by one, in the order of RecallBoard: for how long it was given up.
  std::array<std::atomic<std::uint64_t>, TaskWork::kMostTasks> given_up_ns{};
  std::atomic<std::uint32_t> given_up{0};                 ///< bit i: now
  std::atomic<double> looks_again_in_ns{0};               ///< for those
  std::atomic<std::uint64_t> blind_satisfies_more_ns{0};  ///< TaskController's
};

/// A worker's controller, between the traffic that comes and the states that flows have.
class WorkerControl {
 public:
  WorkerControl(const ControlPlan& plan, const StatePlan& states);

  bool due(LinkPlace now) const noexcept { return now.latest_ns != 0 && length_.at(now) >= border_ns_; }

  /// Once it is due: `weighed_packets` (FlowTracker's), `effective_packets`, `new_flows` and `rows` (WindowRows') are
  /// of all packets up to now.
  void end_window(LinkPlace now, const WorkerLoad& load, std::span<const std::uint64_t> weighed_packets,
                  std::span<const std::uint64_t> effective_packets, std::uint64_t new_flows, std::uint64_t rows,
                  FlowStates& states) noexcept;

  const ControlCounts& counts() const noexcept { return counts_; }

  /// Of how many connections one is to be looked at.
  std::uint32_t one_in() const noexcept { return by_tasks_ ? by_tasks_->one_in() : controller_.one_in(); }

  /// What a packet of the last window should have taken, but for inserting its flow; nothing before one.
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
  std::optional<TaskController> by_tasks_;  ///< in its place
  ReducedStates reduced_;
  std::vector<std::uint32_t> parts_of_state_;
  std::vector<double> part_ns_, done_;
  std::uint64_t always_rows_ = 0;
  std::vector<TaskDemand> demands_;
  double weighed_ns_ = 0;  ///< since flows were weighed
  int weighings_ = 0;      ///< in a row: the second knows what it says
  static constexpr int kWeighedTwice = 2;
  Allocation installed_;
  std::vector<StateShares::Part> parts_;
  std::vector<GapRecovery::Task> tasks_;
  std::vector<std::uint64_t> told_;  ///< by task: RecallBoard's, at the last step
  std::uint64_t border_ns_ = 0, began_ns_ = 0;
  WorkerLoad load_;
  std::vector<std::uint64_t> weighed_before_, effective_before_;
  std::vector<double> weighed_packets_, state_packets_, effective_packets_;
  std::uint64_t new_flows_ = 0, rows_ = 0;
  bool began_any_ = false;
  ControlCounts counts_;
};

}  // namespace parshall
