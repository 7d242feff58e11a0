// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/choices.hpp"
#include "base/result.hpp"
#include "control/controller.hpp"
#include "control/profile.hpp"
#include "control/state_graph.hpp"
#include "control/task_controller.hpp"
#include "engine/recall_board.hpp"
#include "pipeline/measure/states/reduced_states.hpp"
#include "pipeline/measure/states/state_plan.hpp"
#include "pipeline/measure/tasks/registry.hpp"

namespace parshall {

/// Returns the mode's name in options.
std::string_view name_of(Controller::Mode mode) noexcept;

/// Plan for reducing a worker's flows under overload.
struct ControlPlan {
  Controller::Options controller;
  ControlPolicy policy = ControlPolicy::mona;
  Preference prefer = Preference::packets;      ///< for ControlPolicy::tasks
  ReducedStates reduced;                        ///< for ControlPolicy::tasks, as are the following
  static constexpr std::uint32_t kRowPart = 1;  ///< part of the work: a flow has a row in its window
  std::vector<double> part_ns;                  ///< cost per packet of each part of the work; the first one, per row
  std::vector<std::uint32_t> parts_of_state;    ///< bit j: the j-th part; for all states of `reduced`
  std::uint64_t always_rows = 0;                ///< bit i: all flows of base state i have a row, even if reduced
  std::vector<TaskDemand> demands;              ///< constant values by task of `reduced`
  std::uint64_t window_ns = 10'000'000;
  std::size_t batch = 256;            ///< packets asked of a source at a time
  PacketTime packet;                  ///< other costs of a packet
  std::vector<double> cost_ns;        ///< cost of the tasks of each state, per packet
  std::vector<std::uint8_t> lighter;  ///< StatePlan::lighter, without steps that save no time
  std::shared_ptr<RecallBoard> recalls = std::make_shared<RecallBoard>();

  /// Returns rough costs, which are corrected as packets come. `windows` and `findings` are those of the run's tasks,
  /// by state.
  static ControlPlan guess(const StatePlan& states, std::span<const WindowPlan> windows,
                           std::span<const FindingNeeds> findings);

  /// Uses costs measured for the same states on this machine; `tasks` is by state. Error: a state is missing or has
  /// other tasks.
  std::optional<Error> use(const Profile& profile, const StatePlan& states,
                           const std::vector<std::vector<std::string>>& tasks);

  /// Makes tasks drop flows one task at a time. `windows` and `findings` are those of all states of `reduced`.
  void use(ReducedStates states, const TaskSets& tasks, std::span<const WindowPlan> windows,
           std::span<const FindingNeeds> findings);
  bool by_tasks() const noexcept {
    return policy == ControlPolicy::tasks && controller.mode == Controller::Mode::recover;
  }

  /// Makes the run report what tasks miss when flows are reduced.
  void watch(const TaskSets& tasks);

  Result<StateGraph> graph(const StatePlan& states) const;

 private:
  void leave_out_steps(const StatePlan& states);
};

}  // namespace parshall
