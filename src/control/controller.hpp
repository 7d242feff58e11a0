// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "control/adaptation.hpp"
#include "control/gap_recovery.hpp"
#include "control/packet_time.hpp"
#include "control/state_graph.hpp"

namespace parshall {

/// What a worker saw in one window. Counts are of packets; those by state are by what flows would have, and had.
struct WindowLoad {
  double window_ns = 0;
  double busy_ns = 0;         ///< spent on packets
  std::uint64_t offered = 0;  ///< with those that the device had to drop
  std::uint64_t counted = 0;
  std::uint64_t new_flows = 0;
  std::optional<double> hit_probability;  ///< unknown: as in the window before
  std::span<const double> base_packets, packets;
};

/// Decides at the end of each window which flows give way in the next one, so that all packets are counted, and that
/// tasks keep their accuracy as far as there is time.
///
/// Cost:   some 150 us for a chain of 64 states, most of it gap recovery, a few us for 10; once a window. Nothing is
///         allocated after the constructor.
/// Source: Tangari et al., MONA, IEEE TNSM 2020. Beyond it: the rate is taken for what it will be at the next window's
///         end where it rises; what packets take is corrected by what they took.
class Controller {
 public:
  enum class Mode : std::uint8_t { none, adapt, recover };  ///< nothing; all packets; and tasks' accuracy

  struct Options {
    Mode mode = Mode::recover;
    double utilisation = 0.95;  ///< of the worker's time that packets may take
    GapRecovery::Options recovery;
  };

  Controller(StateGraph graph, PacketTime profile, Options options);

  /// `tasks`: what is known of their recall in the window.
  const Allocation& end_window(const WindowLoad& load, std::span<const GapRecovery::Task> tasks) noexcept;

  const StateGraph& graph() const noexcept { return graph_; }
  const Allocation& allocation() const noexcept { return allocation_; }
  Shift shift() const noexcept { return shift_; }

  /// By how much packets took longer than the profile says, of that, on average over some windows; 0: as it says.
  double residual() const noexcept { return slowness_ - 1; }

 private:
  void learn(const WindowLoad& load) noexcept;
  double next_rate_pps(const WindowLoad& load) noexcept;

  StateGraph graph_;
  PacketTime time_;
  Options options_;
  Allocation adapted_, allocation_;  ///< by adaptation alone; in force
  GapRecovery recovery_;
  Shift shift_;
  double slowness_ = 1;  ///< time taken, of what the profile says
  double weight_ = 1;    ///< cost of tasks, of what shares of flows let expect: heavy flows are few
  std::optional<double> last_rate_pps_;
};

}  // namespace parshall
