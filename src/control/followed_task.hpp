// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/flow_weight.hpp"

namespace parshall {

/// Unit in which a task's events are counted: flows that have any in the window, or each event.
enum class EventMeasure : std::uint8_t { flows, each };
inline constexpr std::size_t kEventMeasures = 2;

/// A task whose flows can be left out, and what is known of its events.
struct FollowedTask {
  static constexpr std::size_t kMost = 16;  ///< tasks that a policy decides about
  using ByWeight = std::array<double, FlowWeight::kClasses>;

  std::uint64_t states = 0;  ///< bit i: the task follows flows of base state i
  std::uint64_t fixed = 0;   ///< the part of these states in which it follows all flows, whatever is chosen
  std::uint32_t parts = 0;   ///< bit j: part j of the work is done for its packets
  double recall = 0.75;      ///< wanted recall
  int priority = 0;          ///< tasks of the largest number are given up last
  bool by_keys = false;      ///< true: adds up flows by a key, so it is never given up, nor given a share by hash
  /// Bit i: EventMeasure i counts; the one with the smaller gain decides. 0: it finds no events, and follows all flows.
  std::uint8_t counts = 1;
  bool knows_weights = true;                               ///< false: all weights get the same share
  std::optional<double> found = std::nullopt;              ///< estimated recall in the last window
  ByWeight flows{};                                        ///< flows of a window, by weight
  std::array<ByWeight, kEventMeasures> events{};           ///< events of a window, with those of flows left out
  std::array<double, kEventMeasures> loss_exponent{1, 1};  ///< for random packet loss; see BlindLoss
};

}  // namespace parshall
