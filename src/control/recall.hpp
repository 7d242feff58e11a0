// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/flow_weight.hpp"
#include "base/recall.hpp"

namespace parshall {

/// Estimates the recall of one task window by window: the events of unseen flows are estimated from those of seen
/// flows.
///
/// Error:  flows must be left out at random, independent of what they do. Within a window events are assumed
///         independent between flows. The bound holds in at least 95 of 100 windows, also for few flows and the first
///         windows. It also holds if the rate of events changes by a factor of three, within 20 windows or at once. The
///         expected recall follows such a change over some windows, and is off by about 0.05 until then. With fewer
///         than about ten events in ten windows it says little.
/// Source: section V.A of Tangari et al., MONA, IEEE/ACM ToN 2020: the mean of the last windows, weighted by sqrt(n) /
/// s.
///         If the windows' means vary by more than their mean, three standard deviations are added. Corrected: random
///         differences between means of few flows do not count as variation of the rate.
class RecallEstimator {
 public:
  static constexpr std::size_t kWindows = 10;

  /// Adds a window: the number of flows the task saw, the sum of their events and the sum of the squares.
  void add_window(std::uint64_t flows, double events, double squares) noexcept;

  /// Returns the recall in the window added last, in which this many flows were not seen. Returns nullopt if no flow
  /// was seen in all windows.
  std::optional<Recall> recall(std::uint64_t missed_flows) const noexcept;

  bool is_known() const noexcept { return added_ != 0 && blind_ < kWindows; }

  /// Returns the mean events of an unseen flow, even if the last data is old.
  std::optional<double> missed_events_per_flow() const noexcept;

  /// Events of unseen flows. The upper bound for 95 of 100 windows has three parts: the highest rate, the Euclidean sum
  /// of random deviation and rate variation, and the skew (`lean`).
  struct Missed {
    double expected = 0;
    double by_rate = 0, chance = 0, spread = 0, lean = 0;

    double most() const noexcept { return std::max(expected, by_rate + std::hypot(chance, spread) + lean); }
  };
  std::optional<Missed> missed(std::uint64_t flows) const noexcept;

 private:
  struct Window {
    double flows = 0, mean = 0, variance = 0;
  };
  struct Moments {
    double windows, flows;
    double mean;        ///< events per flow
    double between_sd;  ///< standard deviation of the windows' means
    double rate_sd;     ///< the same without the part that the choice of flows adds
    double within_variance;
  };

  std::optional<Moments> moments() const noexcept;

  std::array<Window, kWindows> windows_{};  ///< ring of windows in which the task saw any flow
  std::size_t added_ = 0;
  std::size_t blind_ = 0;  ///< windows since the last in which the task saw any flow
  double events_ = 0;      ///< events of the window added last
};

/// Estimates recall by the weight of flows: unseen flows may have other weights than seen ones, and heavy flows have
/// more events.
///
/// Error:  if all flows of a weight were unseen for long, the rate is the last known one, or twice that of the next
///         lighter flows. The bound then assumes one event for each flow.
class RecallByWeight {
 public:
  using Counts = std::array<std::uint64_t, FlowWeight::kClasses>;

  /// Adds a window: the flows that the task saw throughout, and all their events, each counted once. Events `in_part`
  /// are of flows that it saw for less time: they show fewer than there are, at first none if the task depends on their
  /// past.
  void add_window(const Counts& flows, const Counts& events, const Counts& in_part = {}) noexcept;

  /// Returns the recall in the window added last.
  std::optional<Recall> recall(const Counts& missed_flows) const noexcept;

 private:
  std::optional<double> rate(std::size_t weight) const noexcept;

  std::array<RecallEstimator, FlowWeight::kClasses> by_weight_;
  Counts events_{};
};

}  // namespace parshall
