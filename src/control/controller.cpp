// SPDX-License-Identifier: Apache-2.0
#include "control/controller.hpp"

#include <algorithm>
#include <utility>

namespace parshall {
namespace {

constexpr double kLearning = 0.3;           ///< of the difference, each window
constexpr double kLeast = 0.1, kMost = 10;  ///< corrections beyond these are no measurement

void approach(double& value, double measured) noexcept {
  value += kLearning * (std::clamp(measured, kLeast, kMost) - value);
}

}  // namespace

Controller::Controller(StateGraph graph, PacketTime profile, Options options)
    : graph_(std::move(graph)),
      time_(profile),
      options_(options),
      adapted_(graph_),
      allocation_(graph_),
      recovery_(graph_, options.recovery) {}

/// What packets took, against what the profile says of packets of these states.
void Controller::learn(const WindowLoad& load) noexcept {
  if (load.hit_probability) time_.hit_probability = *load.hit_probability;
  if (load.counted == 0) return;
  const auto counted = static_cast<double>(load.counted);
  time_.new_flow_share = std::min(1.0, static_cast<double>(load.new_flows) / counted);
  const double tasks_ns = graph_.mean_cost_ns(load.packets);
  const double expected_ns = time_.total_ns(tasks_ns);
  if (expected_ns > 0 && load.busy_ns > 0) approach(slowness_, load.busy_ns / counted / expected_ns);
  const double by_shares_ns = allocation_.mean_cost_ns(graph_, load.base_packets);
  if (by_shares_ns > 0 && tasks_ns > 0) approach(weight_, tasks_ns / by_shares_ns);
}

/// At the next window's end, where it rises: a window and a half behind the middle of this one.
double Controller::next_rate_pps(const WindowLoad& load) noexcept {
  const double rate_pps = static_cast<double>(load.offered) * 1e9 / load.window_ns;
  const double rise_pps = std::max(0.0, rate_pps - last_rate_pps_.value_or(rate_pps));
  last_rate_pps_ = rate_pps;
  return rate_pps + 1.5 * rise_pps;
}

const Allocation& Controller::end_window(const WindowLoad& load, std::span<const GapRecovery::Task> tasks) noexcept {
  if (options_.mode == Mode::none || load.window_ns <= 0) return allocation_;
  if (load.counted == 0 && load.offered != 0) return allocation_;  // it stood still: nothing is known of the packets
  learn(load);
  const auto target_ns = time_.processing_target_ns(next_rate_pps(load) * slowness_ / options_.utilisation);
  if (options_.mode == Mode::recover) recovery_.step(graph_, tasks, load.base_packets, adapted_);
  shift_ = target_ns ? shift_to(graph_, load.base_packets, *target_ns / weight_) : Shift();
  adapted_.apply(graph_, shift_);
  allocation_ = adapted_;
  if (options_.mode == Mode::recover) recovery_.apply(graph_, load.base_packets, allocation_);
  return allocation_;
}

}  // namespace parshall
