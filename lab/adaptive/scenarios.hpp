// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "parshall/plan.hpp"

namespace parshall::lab {

/// Monitoring states as TOML. The first are those of figure 6 of Tangari et al., MONA, IEEE/ACM ToN 2020; then come
/// chains of more states and tasks, as in its table II and figure 12.
struct StateConfig {
  std::string_view name, help;
  std::string_view states;
};
std::span<const StateConfig> state_configs();

/// Returns the placeholder of each task there, and the task.
std::span<const std::pair<std::string_view, std::string_view>> adaptive_tasks() noexcept;

/// Traffic of a worker, in multiples of load 1. At load 1, with all flows in their own states, the worker is busy for
/// kBusyAtLoad1 of the time.
constexpr double kBusyAtLoad1 = 0.95;
struct AdaptiveScenario {
  std::string_view name, help;
  std::string_view skew;      ///< in the syntax of -g
  std::vector<double> loads;  ///< highest rates, one run each
  double swing_s = 0;         ///< period from the least rate to the highest and back; 0: constant rate
  double least_load = 0;      ///< lowest rate, if it oscillates
  bool neighbour = false;     ///< a program that competes for the cache in the middle third of the time

  /// Shares of packets that are SYNs of new flows, and bytes that a flow needs to pass the filter (0: no filter); one
  /// run each.
  std::vector<double> floods = {0};
  std::vector<std::uint32_t> filters = {0};
};
std::span<const AdaptiveScenario> adaptive_scenarios() noexcept;

}  // namespace parshall::lab
