// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

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
///         flow to flow. What windows differ by is measured over the last kWindows: where the rate of events rises or
///         falls throughout them, the bound holds less often than it says, in 62 to 97 of 100 windows.
/// Source: section V.A of Tangari et al., MONA, IEEE TNSM 2020: the mean of the last windows, weighted by sqrt(n) / s;
///         where the windows' means vary by more than their mean, three standard deviations more.
class RecallEstimator {
 public:
  static constexpr std::size_t kWindows = 10;

  /// One window's flows that the task saw: how many, the sum of their events and of the squares of these.
  void add_window(std::uint64_t flows, double events, double squares) noexcept;

  /// Of the window added last, in which so many flows were not seen. Nothing where no flow was seen in all windows.
  std::optional<Recall> recall(std::uint64_t missed_flows) const noexcept;

  /// Events of a flow that was not seen, on average.
  std::optional<double> missed_events_per_flow() const noexcept;

 private:
  struct Window {
    double flows = 0, mean = 0, variance = 0;
  };
  struct Moments {
    double mean, between_sd, within_variance;
  };

  std::optional<Moments> moments() const noexcept;

  std::array<Window, kWindows> windows_{};  ///< a ring of those in which the task saw any flow
  std::size_t added_ = 0;
  double events_ = 0;  ///< of the window added last
};

}  // namespace parshall
