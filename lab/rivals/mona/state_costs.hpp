// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "lab/rivals/mona/state_graph.hpp"

namespace parshall::lab {

/// Learns the cost of a packet in each monitoring state from the total time of all packets in a window.
///
/// It is a Kalman filter. The costs drift, all together (a co-running program takes the caches) and a little
/// individually; a window shows sum(share_i * cost_i) with noise. States of similar cost share most of their tasks, so
/// their given costs are wrong alike: their covariance is 0.9 times the smaller variance. So a state never used moves
/// with similar ones. No cost becomes less certain than it was at the start, however long it goes unseen. What windows
/// of one mix cannot show, the division among its states, returns to the given costs.
///
/// Shape:  16 bytes for each pair of states, 64 KB for 64; nothing is allocated after the constructor.
/// Cost:   3.2 us a window for 64 states, 1.5 us more in a window with a surprising result; 1.5 us to order them.
/// Error:  for the mean cost of mixes in use, about 2 % of a window's random variation; for a single state's cost, its
///         sd.
/// Source: Kalman, "A new approach to linear filtering and prediction problems", J. Basic Engineering 82(1), 1960. The
///         update uses products that do not depend on the order, so that the covariance stays symmetric.
class StateCosts {
 public:
  struct Options {
    double prior_sd = 0.5;       ///< relative error of each given cost; above 0
    double common_drift = 0.01;  ///< drift of all costs, per window
    double own_drift = 0.01;     ///< drift of each cost
    double jump = 0.3;           ///< drift of all costs and of each, in a surprising window
    double relaxing = 0.01;      ///< return of undetermined costs to the given ones, per window
    double noise = 0.02;         ///< relative to a mean packet's time in a fully busy window
  };
  struct Window {
    double window_ns = 0;
    double busy_ns = 0;  ///< time spent on packets
    double counted = 0;  ///< packets
    /// Packets by state, times any factor by which they were dearer in this window than as given.
    std::span<const double> shares;
  };

  static constexpr double kFewestPackets = 64, kLeastBusy = 0.01;  ///< windows with less teach nothing

  explicit StateCosts(std::span<const double> costs_ns) : StateCosts(costs_ns, Options()) {}
  StateCosts(std::span<const double> costs_ns, Options options);

  /// Adds a window; returns false if it taught nothing, because it was idle or invalid.
  bool add_window(const Window& window) noexcept;

  std::size_t size() const noexcept { return costs_ns_.size(); }
  double cost_ns(std::size_t state) const noexcept { return costs_ns_[state]; }
  double given_ns(std::size_t state) const noexcept { return prior_ns_[state]; }
  double sd_ns(std::size_t state) const noexcept;
  double mean_cost_ns(std::span<const double> shares) const noexcept;

  /// Returns how much longer packets took than expected before each window, as a share averaged over some windows.
  double residual() const noexcept { return residual_; }

 private:
  double& covariance(std::size_t i, std::size_t j) noexcept { return covariance_[i * size() + j]; }
  bool is_possible(const Window& window) const noexcept;
  void relax(std::span<const double> shares, double mean_ns) noexcept;
  double drift(double own_drift, double common_drift, std::span<const double> shares) noexcept;

  Options options_;
  std::vector<double> prior_ns_, prior_variance_, least_ns_, most_ns_;
  std::vector<double> costs_ns_, covariance_;
  std::vector<double> own_variance_, common_, scale_, gain_;  ///< values of one window
  double residual_ = 0;
};

/// Adjusts costs so that every state is reduced to a cheaper one: if two contradict, the one with the smaller sd stays.
/// Then scales all so that a mix of these shares keeps its cost.
void make_monotone(const StateGraph& graph, std::span<const double> sds_ns, std::span<const double> shares,
                   std::span<double> costs_ns) noexcept;

}  // namespace parshall::lab
