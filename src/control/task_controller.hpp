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

/// Observations of a worker in one window. Counts are packets.
struct TaskLoad {
  double window_ns = 0;
  double busy_ns = 0;         ///< time spent on packets
  std::uint64_t offered = 0;  ///< includes those that the device dropped
  std::uint64_t counted = 0;  ///< fewer than offered if any were lost
  std::uint64_t missed = 0;   ///< part of the offered: lost for lack of time
  std::uint64_t shed = 0;     ///< part of the offered: shed, by TaskController::one_in()
  std::uint64_t new_flows = 0;
  std::span<const double> packets;  ///< by base state and weight (FlowWeight)
  std::span<const double> done;     ///< by part of the work: packets, or flows, that it was done for
  std::uint64_t always = 0;         ///< as in TaskWork
  std::uint32_t flow_parts = 0;     ///< this and the following as in TaskWork, as far as known
  std::array<double, FlowWeight::kClasses> flows_per_packet{};
  std::uint32_t mixed_parts = 0;
};

/// Decides how long to wait before a worker is given more work again. There is no wait unless the last attempt was too
/// much; then the wait doubles each time, until an attempt has been good for the longest wait. It ends after an eighth
/// if there is time to spare, and at once if packets have more time than when the last attempt failed.
class Patience {
 public:
  static constexpr double kFirstNs = 100e6, kLongestNs = 1.5e9, kUndoneNs = 1e9;
  static constexpr double kMoreTime = 1.1, kToSpare = 0.85, kSooner = 1.0 / 8;

  void pass(double ns) noexcept { since_ns_ += ns; }
  /// `budget_ns`: time available for a packet now; `packet_ns`: its cost.
  bool is_over(double budget_ns, double packet_ns) const noexcept {
    return since_ns_ >= (packet_ns < kToSpare * budget_ns ? kSooner : 1) * wait_ns_ ||
           budget_ns >= kMoreTime * fell_at_ns_;
  }
  double left_ns() const noexcept { return std::max(0.0, wait_ns_ - since_ns_); }
  bool is_settled(double ns) const noexcept { return since_ns_ >= ns; }  ///< true if nothing changed for so long
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

/// Decides at the end of each window which tasks inspect which flows in the next one. All packets are to be counted,
/// and as many tasks as possible to have the recall they want (TaskShares). If there is no time for any task, some
/// flows are shed.
///
/// With Preference::tasks, packets may be lost at random instead if more tasks get enough recall that way, or equally
/// many with nothing reduced at all.
///
/// Nothing is reduced while packets take no more than the time available. Costs are learnt: per packet, per new flow,
/// and for the work of tasks, large parts individually and the rest together.
class TaskController {
 public:
  struct Options {
    double utilisation = 0.95;  ///< share of the worker's time for packets
    bool sheds = true;          ///< sheds if packets take too long without any task
    Preference prefer = Preference::packets;
    StateCosts::Options costs;
  };

  /// `part_ns`: cost per packet of each part of the work, as far as known.
  TaskController(std::size_t tasks, const PacketTime& packet, std::span<const double> part_ns, Options options);

  /// Ends a window; `tasks` are the same ones each time. Returns true if their shares changed.
  bool end_window(const TaskLoad& load, std::span<const TaskDemand> tasks) noexcept;

  std::span<const TaskShare> shares() const noexcept { return shares_; }
  bool gives_way() const noexcept;
  std::uint32_t satisfied() const noexcept { return satisfied_; }  ///< bit i: task i should reach its recall
  /// Returns the tasks (bit i: task i) that are reduced and find less than they want on average.
  std::uint32_t given_up() const noexcept { return given_up_; }
  /// Returns true if more tasks would have enough recall with nothing reduced, and packets lost at random.
  bool blind_loss_satisfies_more() const noexcept { return blind_satisfies_more_; }
  /// Returns the longest time until more work is tried again; it is tried sooner if the load falls by a tenth.
  double looks_again_in_ns() const noexcept;
  bool fits() const noexcept { return fits_; }  ///< false: packets take too long even without any task
  std::uint32_t one_in() const noexcept { return shedding_.one_in(); }
  double residual() const noexcept { return costs_.residual(); }
  double packet_ns() const noexcept { return costs_.cost_ns(kPacket); }  ///< without tasks, for a known flow

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
  TaskPrices prices_;  ///< for the window that ended
  TaskShares choice_;
  std::vector<TaskShare> shares_, target_;  ///< present shares, and those once returning flows are back
  std::vector<TaskShare> next_, none_, all_;
  std::vector<TaskDemand> with_losses_;
  double lost_share_ = 0, chosen_lost_share_ = 0;  ///< share of packets that may be lost so that tasks find more
  std::vector<double> work_shares_, given_ns_, part_ns_;
  std::vector<std::size_t> work_of_part_;  ///< kRest, or its own kind
  double flows_factor_ = 1;                ///< correction of flows_per_packet
  double new_flow_share_ = 0;
  std::uint32_t satisfied_ = ~std::uint32_t{0}, given_up_ = 0;
  double tasks_in_a_window_ = TaskWork::kMostTasks, choice_tasks_ = 0;  ///< see TaskShares::choose()
  double looked_ns_ = 0;                                                ///< since alternatives were last considered
  std::array<double, 3> times_told_{1, 1, 1};  ///< packet time in the last windows, relative to the estimate
  bool fits_ = true, is_away_ = false, blind_satisfies_more_ = false;
  std::uint32_t lost_in_ = 0;  ///< bit i: packets were lost i windows ago by a busy worker
  bool rose_ = false;          ///< shares rose at the end of the last window: returning flows take time
  Patience patience_;
};

}  // namespace parshall
