// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/figures/figures.hpp"
#include "base/figures/harness.hpp"
#include "base/result.hpp"

namespace parshall::lab {

/// Work for monitoring states, in addition to the tasks' work; each value includes the previous ones.
enum class StatesWay : std::uint8_t { one_state, counted, decided, changing, estimates };

struct StatesWayEntry {
  std::string_view name, help;
  StatesWay way;
};
std::span<const StatesWayEntry> states_ways() noexcept;

struct StatesSweep {
  static constexpr std::size_t kMostFlows = std::size_t{1} << 18;
  static constexpr std::uint64_t kWindowNs = 10'000'000;

  std::vector<std::size_t> states{5, 10, 20, 40, 64};
  std::vector<std::size_t> flows{100, 500, 1000};
  double rate_pps = 14.88e6;
  std::size_t tasks = 4;  ///< tasks whose recall is estimated at a window's end
  int rounds = 15;
  std::uint64_t seed = 1;
};

struct StatesRow {
  const StatesWayEntry* way;
  std::size_t states, flows;
  std::uint64_t window_packets;      ///< in 10 ms
  Cost cost;                         ///< total per packet; for estimates, only their own cost
  double packets_reduced_share = 0;  ///< share of packets in a lighter state than their flow's own
};

/// Runs the same monitor with the same task for all flows in every state, so that additional cost is due to states
/// only. Flows take turns. States form a chain. At most the heaviest 33 have flows, equally many each, and the lightest
/// has none, so that all change state if they are reduced. Error: a window has fewer packets than there are flows.
///
/// Error:  the task needs the same in each state. If a lighter state drops a task, flows that change must also be
///         forgotten or found again.
Result<std::size_t> measure_states(const StatesSweep& sweep,
                                   const std::function<void(std::span<const StatesRow>)>& done,
                                   const std::function<bool()>& stop);

std::span<const Column> states_columns() noexcept;
Part states_part(std::span<const StatesRow> rows);

}  // namespace parshall::lab
