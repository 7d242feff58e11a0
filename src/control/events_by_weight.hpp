// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "control/followed_task.hpp"

namespace parshall {

/// Estimates a task's events by the weight of flows, by either measure, with those of flows that it did not follow.
///
/// Where few flows of a weight were followed, the rate of events that come in proportion to packets is drawn towards
/// that of all packets of the task: otherwise a weight whose few flows showed no event would never be followed again.
class EventsByWeight {
 public:
  using ByWeight = FollowedTask::ByWeight;

  struct Window {
    ByWeight flows{}, packets{};            ///< of all flows
    ByWeight seen_flows{}, seen_packets{};  ///< of those followed throughout
    std::array<ByWeight, kEventMeasures> seen_events{};
  };

  /// `by_packets`: whether a flow's events come in proportion to its packets.
  void add_window(const Window& window, bool by_packets) noexcept {
    constexpr double kForgetting = 0.1, kPrior = 0.3;  // events a window, of which the last ten count
    const double part = is_first_ ? 1 : kForgetting;
    is_first_ = false;
    const auto learn = [&](ByWeight& of_late, const ByWeight& now) {
      for (std::size_t weight = 0; weight < now.size(); ++weight)
        of_late[weight] += part * (now[weight] - of_late[weight]);
    };
    learn(of_late_.flows, window.flows);
    learn(of_late_.packets, window.packets);
    learn(of_late_.seen_flows, window.seen_flows);
    learn(of_late_.seen_packets, window.seen_packets);
    for (std::size_t measure = 0; measure < kEventMeasures; ++measure)
      learn(of_late_.seen_events[measure], window.seen_events[measure]);
    const auto sum = [](const ByWeight& of) {
      double all = 0;
      for (const double one : of) all += one;
      return all;
    };
    const auto each = static_cast<std::size_t>(EventMeasure::each),
               flows = static_cast<std::size_t>(EventMeasure::flows);
    const double a_packet = (sum(of_late_.seen_events[each]) + 0.01) / (sum(of_late_.seen_packets) + 2);
    for (std::size_t weight = 0; weight < FlowWeight::kClasses; ++weight) {
      const double all_flows = of_late_.flows[weight], all_packets = of_late_.packets[weight];
      double& rate = rates_[weight];
      if (of_late_.seen_flows[weight] > kPrior)
        rate = of_late_.seen_events[flows][weight] / of_late_.seen_flows[weight];
      else if (rate < 0)
        rate = weight == 0 ? 0 : std::min(1.0, 2 * std::max(0.0, rates_[weight - 1]) + 0.01);
      events_[flows][weight] = events_[each][weight] = std::max(0.0, rate) * all_flows;
      if (!by_packets) continue;
      events_[each][weight] = all_packets * (of_late_.seen_events[each][weight] + kPrior) /
                              (of_late_.seen_packets[weight] + kPrior / a_packet);
      const double a_flow = all_flows > 0 ? a_packet * all_packets / all_flows : 0, any = a_flow / (1 + a_flow);
      events_[flows][weight] = any > 0 ? all_flows * (of_late_.seen_events[flows][weight] + kPrior) /
                                             (of_late_.seen_flows[weight] + kPrior / any)
                                       : 0;
    }
  }

  const ByWeight& flows() const noexcept { return of_late_.flows; }
  /// Returns events of a window.
  const std::array<ByWeight, kEventMeasures>& events() const noexcept { return events_; }

 private:
  static constexpr ByWeight unknown() noexcept {
    ByWeight rates;
    rates.fill(-1);
    return rates;
  }

  bool is_first_ = true;
  Window of_late_;
  ByWeight rates_ = unknown();
  std::array<ByWeight, kEventMeasures> events_{};
};

}  // namespace parshall
