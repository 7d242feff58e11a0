// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/flow_weight.hpp"
#include "control/adaptation.hpp"
#include "control/gap_recovery.hpp"
#include "control/packet_time.hpp"
#include "control/rate_forecast.hpp"
#include "control/shedding.hpp"
#include "control/state_costs.hpp"
#include "control/state_graph.hpp"

namespace parshall {

/// What a worker saw in one window. Counts are of packets; those by state are by what flows would have, and had.
struct WindowLoad {
  double window_ns = 0;
  double busy_ns = 0;         ///< spent on packets
  std::uint64_t offered = 0;  ///< with those that the device had to drop
  std::uint64_t counted = 0;  ///< fewer than offered where any were lost
  std::uint64_t missed = 0;   ///< of those offered: lost for want of time
  std::uint64_t shed = 0;     ///< likewise: left, by Controller::one_in()
  std::uint64_t new_flows = 0;
  std::optional<double> hit_probability;  ///< unknown: as in the window before
  std::span<const double> base_packets, packets;
  std::span<const double> weighed_packets = {};  ///< base_packets, by state and weight (FlowWeight); unknown: none
};

/// Decides at the end of each window which flows give way in the next one, so that all packets are counted, and that
/// tasks keep their accuracy as far as there is time. Where there is none left to give way for, some flows are shed.
///
/// Cost:   some 12 us for a chain of 64 states, 1.6 us for 10, once a window (make bench); after the constructor
/// nothing
///         is allocated.
/// Error:  a rise that is steeper than the one of the window before can lose packets within that window, and so can a
///         co-runner within the four windows that it takes to learn of it.
/// Source: Tangari et al., MONA, IEEE TNSM 2020. Beyond it: where the worst task keeps more by it, heavy flows go all
///         the way before others, since a packet of theirs brings fewer events, and few flows go all the way and not
///         all one step; the rate is taken for what it will be at the next window's end where it rises; what packets
///         of each state take is learnt from what they took.
class Controller {
 public:
  enum class Mode : std::uint8_t { none, adapt, recover };  ///< nothing; all packets; and tasks' accuracy

  static constexpr double kLeastUtilisation = 0.05;

  struct Options {
    Mode mode = Mode::recover;
    double utilisation = 0.95;  ///< of the worker's time that packets may take, kLeastUtilisation to 1
    bool sheds = true;          ///< where the lightest states take too long
    GapRecovery::Options recovery;
    StateCosts::Options costs;
  };

  Controller(StateGraph graph, PacketTime profile, Options options);

  /// `tasks`: what is known of their recall in the window.
  const Allocation& end_window(const WindowLoad& load, std::span<const GapRecovery::Task> tasks) noexcept;

  const StateGraph& graph() const noexcept { return graph_; }
  const Allocation& allocation() const noexcept { return allocation_; }
  Shift shift() const noexcept { return shift_; }
  /// Flows of this weight or more go all the way, whatever the shift; FlowWeight::kClasses: none do.
  std::uint8_t heavy_from() const noexcept { return heavy_from_; }

  /// Of how many connections one is to be looked at, the others' packets left.
  std::uint32_t one_in() const noexcept { return shedding_.one_in(); }

  /// By how much packets took longer than the profile says, of that, on average over some windows; 0: as it says.
  double residual() const noexcept { return slowness_ - 1; }

  /// What packets cost all in, as learnt, were new flows and cache hits as the profile says.
  const StateCosts& costs() const noexcept { return costs_; }
  /// And as they are.
  const StateGraph& all_in() const noexcept { return all_in_; }

 private:
  void learn(const WindowLoad& load) noexcept;
  void learn_margin(const WindowLoad& load) noexcept;
  struct Choice {
    std::uint8_t heavy_from = FlowWeight::kClasses;
    Shift shift;
    double headroom = 0;  ///< of the worst task
  };
  Choice choose(const WindowLoad& load, double target_ns) noexcept;
  Choice choose_with(const WindowLoad& load, std::uint8_t heavy_from, double target_ns) noexcept;
  void decide_shedding(const WindowLoad& load, double busy_ns, double target_ns) noexcept;
  Choice choose_shift(double target_ns, std::uint8_t heavy_from) const noexcept;
  double worst_headroom(Shift shift, std::uint8_t heavy_from) const noexcept;
  void set_aside_heavy(const WindowLoad& load, std::uint8_t from) noexcept;
  void tell() noexcept;

  StateGraph graph_;   ///< as profiled: costs of tasks
  StateGraph all_in_;  ///< as learnt: costs of all that is done for a packet
  PacketTime time_;
  Options options_;
  std::vector<double> profiled_ns_;  ///< by state: all that is done for a packet, as the profile says
  std::vector<double> now_ns_, sds_ns_, mix_, shares_;  ///< one window's, by state
  StateCosts costs_;
  std::vector<GapRecovery::Task> tasks_;  ///< as last told, but for their recall
  Allocation adapted_, allocation_;       ///< by adaptation alone; in force
  GapRecovery recovery_;
  Shift shift_;
  std::uint8_t heavy_from_ = FlowWeight::kClasses;
  std::vector<double> rest_packets_;  ///< by base state: of flows that are not heavy, where those are set aside
  std::uint64_t states_in_use_ = 0;   ///< bit i: base state i has packets, heavy or not
  double rest_share_ = 1;             ///< of all packets
  double heavy_ns_ = 0;               ///< the others', of a packet on average
  RateForecast rate_;
  Shedding shedding_;
  double lightest_ns_ = 0;  ///< that a packet takes in the lightest states, as last measured
  double margin_ = 1;       ///< of the utilisation, that work which does not come evenly leaves
  double slowness_ = 1;     ///< time taken, of what the profile says
  double weight_ = 1;       ///< cost of packets, of what shares of flows let expect: heavy flows are few
};

}  // namespace parshall
