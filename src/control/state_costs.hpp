// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "control/state_graph.hpp"

namespace parshall {

/// What a packet of each monitoring state costs, learnt from what all packets of a window took together.
///
/// A Kalman filter: the state is the costs, which drift, all together (a co-runner takes the caches) and a little each
/// by itself; a window shows sum(share_i * cost_i) with noise. What is given is wrong alike for states that cost about
/// the same, which share most of their tasks: their covariance is 0.9 times the smaller variance. So a state that was
/// never in use moves with those near it. No cost is less sure than it was at the start, however long nothing is seen
/// of it; and what windows of the same mix do not tell, how it is made up, comes back to what was given.
///
/// Shape:  16 bytes for each pair of states, 64 KB for 64; nothing is allocated after the constructor.
/// Cost:   3.2 us a window for 64 states, 1.5 us more in one that chance does not account for; 1.5 us to order them.
/// Error:  of the mean cost of mixes in use, some 2 % of what a window's time differs by chance; of a single state's
///         cost, as told by its sd.
/// Source: Kalman, "A new approach to linear filtering and prediction problems", J. Basic Engineering 82(1), 1960. The
///         update is of products that do not depend on the order, so that the covariance stays symmetric.
class StateCosts {
 public:
  struct Options {
    double prior_sd = 0.5;       ///< of what is given, of each cost; above 0
    double common_drift = 0.01;  ///< of all costs, a window
    double own_drift = 0.01;     ///< of each cost
    double jump = 0.3;           ///< of all costs and of each, in a window that chance does not account for
    double relaxing = 0.01;      ///< of what windows alike leave open, back to what was given, a window
    double noise = 0.02;         ///< of a mean packet's time in a window that was busy throughout
  };
  struct Window {
    double window_ns = 0;
    double busy_ns = 0;  ///< spent on packets
    double counted = 0;  ///< packets
    /// Of packets by state; what makes them dearer in this window than as given is a factor of it.
    std::span<const double> shares;
  };

  static constexpr double kFewestPackets = 64, kLeastBusy = 0.01;  ///< a window of less teaches nothing

  explicit StateCosts(std::span<const double> costs_ns) : StateCosts(costs_ns, Options()) {}
  StateCosts(std::span<const double> costs_ns, Options options);

  /// Whether it taught anything: not if it was idle, nor if its numbers cannot be.
  bool add_window(const Window& window) noexcept;

  std::size_t size() const noexcept { return costs_ns_.size(); }
  double cost_ns(std::size_t state) const noexcept { return costs_ns_[state]; }
  double given_ns(std::size_t state) const noexcept { return prior_ns_[state]; }
  double sd_ns(std::size_t state) const noexcept;
  double mean_cost_ns(std::span<const double> shares) const noexcept;

  /// By how much packets took longer than was told before each window, of that, on average over some windows.
  double residual() const noexcept { return residual_; }

 private:
  double& covariance(std::size_t i, std::size_t j) noexcept { return covariance_[i * size() + j]; }
  bool is_possible(const Window& window) const noexcept;
  void relax(std::span<const double> shares, double mean_ns) noexcept;
  double drift(double own_drift, double common_drift, std::span<const double> shares) noexcept;

  Options options_;
  std::vector<double> prior_ns_, prior_variance_, least_ns_, most_ns_;
  std::vector<double> costs_ns_, covariance_;
  std::vector<double> own_variance_, common_, scale_, gain_;  ///< one window's
  double residual_ = 0;
};

/// Costs with which every state gives way to a cheaper one: where two contradict, the one with the smaller sd stays.
/// Then all are scaled so that a mix of these shares costs what it did.
void make_monotone(const StateGraph& graph, std::span<const double> sds_ns, std::span<const double> shares,
                   std::span<double> costs_ns) noexcept;

}  // namespace parshall
