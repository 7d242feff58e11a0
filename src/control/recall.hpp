// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>

#include "base/flow_weight.hpp"

namespace parshall {

/// What share of its events a task found, of those that were there.
struct Recall {
  double expected = 1;
  double at_least = 1;  ///< so much in 95 of 100 windows
};

/// Estimates the recall of one task from window to window: what flows that it did not see would have shown, by what
/// those showed that it saw.
///
/// Error:  flows must be left out by chance, not by what they do. Within a window events are taken for independent from
///         flow to flow. The bound holds in 95 of 100 windows or more, of few flows and the first ones too, and where
///         the rate of events rises or falls to three times or a third within 20 windows or at once. The expected
///         recall follows such a change over some windows and is some 0.05 off meanwhile; of fewer than some ten events
///         in ten windows it says little.
/// Source: section V.A of Tangari et al., MONA, IEEE TNSM 2020: the mean of the last windows, weighted by sqrt(n) / s;
///         where the windows' means vary by more than their mean, three standard deviations more. Mended: what means
///         of few flows differ by chance is no variation of the rate.
class RecallEstimator {
 public:
  static constexpr std::size_t kWindows = 10;

  /// One window's flows that the task saw: how many, the sum of their events and of the squares of these.
  void add_window(std::uint64_t flows, double events, double squares) noexcept;

  /// Of the window added last, in which so many flows were not seen. Nothing where no flow was seen in all windows.
  std::optional<Recall> recall(std::uint64_t missed_flows) const noexcept;

  bool is_known() const noexcept { return added_ != 0 && blind_ < kWindows; }

  /// Events of a flow that was not seen, on average; also where that is long ago.
  std::optional<double> missed_events_per_flow() const noexcept;

  /// Events of flows that were not seen. The most there are in 95 of 100 windows: those of the highest rate, the
  /// hypotenuse of what they differ from it by chance and of what the rate does, and the lean.
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
    double mean;        ///< events of a flow
    double between_sd;  ///< of the windows' means
    double rate_sd;     ///< and without what the choice of flows adds to it
    double within_variance;
  };

  std::optional<Moments> moments() const noexcept;

  std::array<Window, kWindows> windows_{};  ///< a ring of those in which the task saw any flow
  std::size_t added_ = 0;
  std::size_t blind_ = 0;  ///< windows since the last in which the task saw any flow
  double events_ = 0;      ///< of the window added last
};

/// The same by the weight of flows: those that are left out need not be of the same weights as those that are seen, and
/// heavy flows have more events.
///
/// Error:  of a weight whose flows have all been left out for long, the rate is what it was, or what the next lighter
///         flows have, twice; and the bound takes an event of each.
class RecallByWeight {
 public:
  using Counts = std::array<std::uint64_t, FlowWeight::kClasses>;

  /// One window's flows that the task saw throughout, and all events, of which none has two. Those `in_part` are of
  /// flows that it saw for less: they show fewer than there are, at first none where it goes by their past.
  void add_window(const Counts& flows, const Counts& events, const Counts& in_part = {}) noexcept;

  /// Of the window added last.
  std::optional<Recall> recall(const Counts& missed_flows) const noexcept;

  /// What share of the events, of late, is of flows of each weight or more; `missed_flows` of the window added last.
  std::array<double, FlowWeight::kClasses> heavy_share(const Counts& missed_flows) noexcept;
  /// By that, in a window: with those missed.
  double events_of_late() const noexcept { return std::accumulate(of_late_.begin(), of_late_.end(), 0.0); }

 private:
  std::optional<double> rate(std::size_t weight) const noexcept;

  std::array<RecallEstimator, FlowWeight::kClasses> by_weight_;
  std::array<double, FlowWeight::kClasses> of_late_{};
  Counts events_{};
};

}  // namespace parshall
