// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/flow_weight.hpp"
#include "control/rate_forecast.hpp"
#include "lab/rivals/mona/adaptation.hpp"
#include "lab/rivals/mona/gap_recovery.hpp"
#include "lab/rivals/mona/packet_time.hpp"
#include "lab/rivals/mona/state_costs.hpp"
#include "lab/rivals/mona/state_graph.hpp"

namespace parshall::lab {

/// Observations of a worker in one window. Counts are packets; by state they are given for base and effective states.
struct WindowLoad {
  double window_ns = 0;
  double busy_ns = 0;         ///< time spent on packets
  std::uint64_t offered = 0;  ///< includes those that the device dropped
  std::uint64_t counted = 0;  ///< fewer than offered if any were lost
  std::uint64_t missed = 0;   ///< part of the offered: lost for lack of time
  std::uint64_t new_flows = 0;
  std::optional<double> hit_probability;  ///< unset: as in the previous window
  std::span<const double> base_packets, packets;
  std::span<const double> weighed_packets = {};  ///< base_packets by state and weight (FlowWeight); empty: unknown
};

/// Decides at the end of each window which flows are reduced in the next one, so that all packets are counted and tasks
/// keep as much accuracy as time allows.
///
/// Cost:   about 12 us for a chain of 64 states, 1.6 us for 10, once a window (make bench). After the constructor
///         nothing is allocated.
/// Error:  packets can be lost in a window whose rate rises more steeply than in the previous one. The same holds for a
///         co-running program during the four windows that it takes to learn its effect.
/// Source: Tangari et al., MONA, IEEE/ACM ToN 2020, with four extensions. If the worst task keeps more by it, heavy
/// flows
///         go all the way before others, since a packet of theirs brings fewer events. Likewise few flows may go all
///         the way instead of all flows one step. A rising rate is extrapolated to the end of the next window. Costs of
///         packets in each state are learnt.
class Controller {
 public:
  enum class Mode : std::uint8_t { none, adapt, recover };  ///< goal: none; all packets; also the tasks' accuracy

  static constexpr double kLeastUtilisation = 0.05;

  struct Options {
    Mode mode = Mode::recover;
    double utilisation = 0.95;  ///< share of the worker's time for packets, kLeastUtilisation to 1
    GapRecovery::Options recovery;
    StateCosts::Options costs;
  };

  Controller(StateGraph graph, PacketTime profile, Options options);

  /// Ends a window; `tasks` holds what is known of their recall in it.
  const Allocation& end_window(const WindowLoad& load, std::span<const GapRecovery::Task> tasks) noexcept;

  const StateGraph& graph() const noexcept { return graph_; }
  const Allocation& allocation() const noexcept { return allocation_; }
  Shift shift() const noexcept { return shift_; }
  /// Returns the weight from which flows always go to the lightest state; FlowWeight::kClasses: none do.
  std::uint8_t heavy_from() const noexcept { return heavy_from_; }

  /// Returns how much longer packets took than the profile says, as a share averaged over some windows; 0: as it says.
  double residual() const noexcept { return slowness_ - 1; }

  /// Returns the learnt total costs of packets, for the profile's shares of new flows and cache hits.
  const StateCosts& costs() const noexcept { return costs_; }
  /// Returns the same costs for the actual shares.
  const StateGraph& all_in() const noexcept { return all_in_; }

 private:
  void learn(const WindowLoad& load) noexcept;
  void learn_margin(const WindowLoad& load) noexcept;
  struct Choice {
    std::uint8_t heavy_from = FlowWeight::kClasses;
    Shift shift;
    double headroom = 0;  ///< margin of the worst task
  };
  Choice choose(const WindowLoad& load, double target_ns) noexcept;
  Choice choose_with(const WindowLoad& load, std::uint8_t heavy_from, double target_ns) noexcept;
  Choice choose_shift(double target_ns, std::uint8_t heavy_from) const noexcept;
  double worst_headroom(Shift shift, std::uint8_t heavy_from) const noexcept;
  void set_aside_heavy(const WindowLoad& load, std::uint8_t from) noexcept;
  void tell() noexcept;

  StateGraph graph_;   ///< profiled costs of tasks
  StateGraph all_in_;  ///< learnt total costs per packet
  PacketTime time_;
  Options options_;
  std::vector<double> profiled_ns_;                     ///< total cost per packet by state, as profiled
  std::vector<double> now_ns_, sds_ns_, mix_, shares_;  ///< values of one window, by state
  StateCosts costs_;
  std::vector<GapRecovery::Task> tasks_;  ///< latest reports, except their recall
  Allocation adapted_, allocation_;       ///< by adaptation alone; and in force
  GapRecovery recovery_;
  Shift shift_;
  std::uint8_t heavy_from_ = FlowWeight::kClasses;
  std::vector<double> rest_packets_;  ///< by base state: packets of flows that are not set aside as heavy
  std::uint64_t states_in_use_ = 0;   ///< bit i: base state i has packets
  double rest_share_ = 1;             ///< share of all packets
  double heavy_ns_ = 0;               ///< mean cost of the others
  RateForecast rate_;
  double margin_ = 1;    ///< factor of the utilisation, for unevenly spread work
  double slowness_ = 1;  ///< time taken, relative to the profile
  double weight_ = 1;    ///< cost of packets, relative to the shares of flows: heavy flows are few
};

}  // namespace parshall::lab
