// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/choices.hpp"
#include "parshall/plan.hpp"

namespace parshall::lab {

/// Monitoring states as TOML: those of figure 6 of Tangari et al., MONA, IEEE TNSM 2020, first, and chains of more
/// states and tasks, as in its table II and figure 12.
struct StateConfig {
  std::string_view name, help;
  std::string_view states;
};
std::span<const StateConfig> state_configs();

/// What stands for a task there, and the task.
std::span<const std::pair<std::string_view, std::string_view>> adaptive_tasks() noexcept;

/// What comes to a worker, by multiples of load 1: what it takes with all flows in their own states while it is busy
/// for kBusyAtLoad1 of the time.
constexpr double kBusyAtLoad1 = 0.95;
struct AdaptiveScenario {
  std::string_view name, help;
  std::string_view skew;      ///< as -g spells it
  std::vector<double> loads;  ///< the highest rate, each in a run of its own
  double swing_s = 0;         ///< from the least rate to that and back; 0: it is constant
  double least_load = 0;      ///< where it swings
  bool neighbour = false;     ///< who fights for the cache, from a third to two thirds of the time

  /// Shares of the packets that are SYNs of flows of their own, and bytes that let a flow in meanwhile (0: no filter):
  /// each in a run of its own.
  std::vector<double> floods = {0};
  std::vector<std::uint32_t> filters = {0};
};
std::span<const AdaptiveScenario> adaptive_scenarios() noexcept;

/// How time is made where there is too little.
struct AdaptiveMode {
  std::string_view name, help;
  Adaptation adaptation;
  ControlPolicy policy;
  Preference prefer = Preference::packets;
};
std::span<const AdaptiveMode> adaptive_modes() noexcept;

}  // namespace parshall::lab
