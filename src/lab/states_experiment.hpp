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

/// What is done about monitoring states, beside what tasks do: each more than the one before.
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
  std::size_t tasks = 4;  ///< whose recall is estimated at a window's end
  int rounds = 15;
  std::uint64_t seed = 1;
};

struct StatesRow {
  const StatesWayEntry* way;
  std::size_t states, flows;
  std::uint64_t window_packets;  ///< of 10 ms
  Cost cost;                     ///< of a packet, all in; of estimates, what they are of one, and nothing else
  double given_way_share = 0;    ///< of the packets, in a lighter state than their flow's own
};

/// The same monitor with the same task for all flows, whatever their state: so that what costs more is for states
/// alone. Flows take turns. States are in a chain; the heaviest 33 at most have flows, as many each, and the lightest
/// has none, so that all change where they give way. Fails where a window has fewer packets than there are flows.
///
/// Error: that task needs the same in each state. Of one that a lighter state does without, flows that change also
///        have to be forgotten, or found again.
Result<std::size_t> measure_states(const StatesSweep& sweep,
                                   const std::function<void(std::span<const StatesRow>)>& done,
                                   const std::function<bool()>& stop);

std::span<const Column> states_columns() noexcept;
Part states_part(std::span<const StatesRow> rows);

}  // namespace parshall::lab
