// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/choices.hpp"
#include "control/packet_time.hpp"
#include "control/rate_forecast.hpp"
#include "control/shedding.hpp"
#include "control/state_costs.hpp"
#include "control/task_shares.hpp"

namespace parshall {

/// What a worker saw in one window. Counts are of packets.
struct TaskLoad {
  double window_ns = 0;
  double busy_ns = 0;         ///< spent on packets
  std::uint64_t offered = 0;  ///< with those that the device had to drop
  std::uint64_t counted = 0;  ///< fewer than offered where any were lost
  std::uint64_t missed = 0;   ///< of those offered: lost for want of time
  std::uint64_t shed = 0;     ///< likewise: left, by TaskController::one_in()
  std::uint64_t new_flows = 0;
  std::span<const double> packets;  ///< by base state and weight (FlowWeight)
  std::span<const double> done;     ///< by part of the work: packets, or flows, that it was done for
  std::uint64_t always = 0;         ///< TaskWork's
  std::uint32_t flow_parts = 0;     ///< TaskWork's, and what follows as far as is known
  std::array<double, FlowWeight::kClasses> flows_per_packet{};
  std::uint32_t mixed_parts = 0;
};

/// How long one has to wait before more is asked of a worker again. Not at all, but where it was too much the last
/// time: then twice as long each time, until it has been right for as long as the longest wait; an eighth of that where
/// there is time to spare; or until each packet has more time than it had then.
class Patience {
 public:
  static constexpr double kFirstNs = 100e6, kLongestNs = 1.5e9, kUndoneNs = 1e9;
  static constexpr double kMoreTime = 1.1, kToSpare = 0.85, kSooner = 1.0 / 8;

  void pass(double ns) noexcept { since_ns_ += ns; }
  /// `budget_ns`: what a packet may take now; `packet_ns`: what it takes.
  bool is_over(double budget_ns, double packet_ns) const noexcept {
    return since_ns_ >= (packet_ns < kToSpare * budget_ns ? kSooner : 1) * wait_ns_ ||
           budget_ns >= kMoreTime * fell_at_ns_;
  }
  double left_ns() const noexcept { return std::max(0.0, wait_ns_ - since_ns_); }
  bool is_settled(double ns) const noexcept { return since_ns_ >= ns; }  ///< nothing changed for so long
  void rose() noexcept {
    if (since_ns_ >= kLongestNs) wait_ns_ = 0;
    rose_ = true;
    since_ns_ = 0;
  }
  void fell(double budget_ns) noexcept {
    fell_at_ns_ = budget_ns;
    if (rose_ && since_ns_ < kUndoneNs)
      wait_ns_ = wait_ns_ == 0 ? kFirstNs : wait_ns_ < kLongestNs ? 2 * wait_ns_ : wait_ns_;
    rose_ = false;
    since_ns_ = 0;
  }

 private:
  double since_ns_ = kLongestNs, wait_ns_ = 0, fell_at_ns_ = 0;
  bool rose_ = false;
};

/// Decides at the end of each window which tasks look at which flows in the next one, so that all packets are counted,
/// and that as many tasks as can be have the recall that they want (TaskShares). Where there is no time for any, some
/// flows are shed.
///
/// With Preference::tasks packets may be lost instead, whichever they are, where more tasks have enough by it; and
/// where as many have enough with nothing giving way at all.
///
/// Nothing gives way while packets take no more than the time that there is for them. What they take is learnt: of each
/// packet, of each that begins a flow, and of what is done for tasks, each that takes much and the rest together.
class TaskController {
 public:
  struct Options {
    double utilisation = 0.95;  ///< of the worker's time that packets may take
    bool sheds = true;          ///< where no task at all takes too long
    Preference prefer = Preference::packets;
    StateCosts::Options costs;
  };

  /// `part_ns`: of a packet that a part of the work is done for, as far as is known.
  TaskController(std::size_t tasks, const PacketTime& packet, std::span<const double> part_ns, Options options);

  /// `tasks`: always the same ones. Whether their shares changed.
  bool end_window(const TaskLoad& load, std::span<const TaskDemand> tasks) noexcept;

  std::span<const TaskShare> shares() const noexcept { return shares_; }
  bool gives_way() const noexcept;
  std::uint32_t satisfied() const noexcept { return satisfied_; }  ///< bit i: task i should have what it wants
  /// Bit i: task i gives way, and finds less than it wants on average.
  std::uint32_t given_up() const noexcept { return given_up_; }
  /// That more tasks should have had what they want, had nothing given way and packets been lost, whichever they are.
  bool blind_loss_satisfies_more() const noexcept { return blind_satisfies_more_; }
  /// Until it is looked whether more can be had, at the latest: sooner where the load falls by a tenth.
  double looks_again_in_ns() const noexcept;
  bool fits() const noexcept { return fits_; }  ///< false: packets take longer than there is, without any task
  std::uint32_t one_in() const noexcept { return shedding_.one_in(); }
  double residual() const noexcept { return costs_.residual(); }
  double packet_ns() const noexcept { return costs_.cost_ns(kPacket); }  ///< without tasks, and of a known flow

 private:
  enum Work : std::size_t { kPacket, kNewFlow, kMixed, kRest, kFirstPart };

  static std::vector<double> given_costs(const PacketTime& packet, std::span<const double> part_ns);

  bool learn(const TaskLoad& load, std::span<const TaskDemand> tasks) noexcept;
  TaskWork work_of(const TaskLoad& load) noexcept;
  void choose(std::span<const TaskDemand> tasks, double budget_ns) noexcept;
  void shed(const TaskLoad& load, double target_ns) noexcept;
  void take(std::span<const TaskDemand> tasks, double budget_ns) noexcept;
  bool rise(double budget_ns) noexcept;
  double satisfied_by_blind_loss(std::span<const TaskDemand> tasks, double all_ns) const noexcept;
  double recall_sum(std::span<const TaskDemand> tasks, std::span<const TaskShare> shares) const noexcept;

  Options options_;
  StateCosts costs_;
  RateForecast rate_;
  Shedding shedding_;
  TaskPrices prices_;  ///< of the window that ended
  TaskShares choice_;
  std::vector<TaskShare> shares_, target_;  ///< as they are, and will be once the flows of those that rise are back
  std::vector<TaskShare> next_, none_, all_;
  std::vector<TaskDemand> with_losses_;
  double lost_share_ = 0, chosen_lost_share_ = 0;  ///< of packets, that may be lost so that tasks find more
  std::vector<double> work_shares_, given_ns_, part_ns_;
  std::vector<std::size_t> work_of_part_;  ///< kRest, or its own
  double flows_factor_ = 1;                ///< of flows_per_packet: as many as there were
  double new_flow_share_ = 0;
  std::uint32_t satisfied_ = ~std::uint32_t{0}, given_up_ = 0;
  double tasks_in_a_window_ = TaskWork::kMostTasks, choice_tasks_ = 0;  ///< TaskShares::choose()
  double looked_ns_ = 0;                                                ///< since it was asked what else there is
  std::array<double, 3> times_told_{1, 1, 1};  ///< that packets took, in the last windows, of what is told now
  bool fits_ = true, is_away_ = false, blind_satisfies_more_ = false;
  std::uint32_t lost_in_ = 0;  ///< bit i: packets were lost i windows before, and the worker had been busy
  bool rose_ = false;          ///< at the last window's end: flows that come back take time
  Patience patience_;
};

}  // namespace parshall
