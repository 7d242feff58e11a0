// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "control/task_work.hpp"

namespace parshall {

/// Computes the cost of a packet from the flows that each task inspects. A part of the work that several tasks share is
/// done once, so traffic is grouped by the tasks that share a part. Another set of shares then costs about 30 ns to
/// evaluate; a choice needs about a thousand evaluations.
class TaskPrices {
 public:
  TaskPrices();

  /// Sets tasks and work without allocating. The memory behind `work.part_ns` must stay valid until the next call.
  void set(std::span<const TaskDemand> tasks, const TaskWork& work) noexcept;

  /// How often each part is done per packet, and how mixed packets are: the sum over parts of 1 for one done for half
  /// of the packets.
  struct Amounts {
    std::array<double, TaskWork::kMostParts> times{};
    double mixed = 0;
  };
  /// `shares`: one for each task.
  Amounts amounts(std::span<const TaskShare> shares) const noexcept;
  double packet_ns(std::span<const TaskShare> shares) const noexcept;

  /// Stores the flows that all tasks but one inspect, for packet_ns_with().
  void hold_but_for(std::size_t task, std::span<const TaskShare> shares) noexcept;
  double packet_ns_with(const TaskShare& share) const noexcept;

 private:
  using ByWeight = std::array<double, FlowWeight::kClasses>;

  /// Packets for which a part is done if one of some tasks inspects their flow.
  struct Group {
    std::size_t part;
    std::uint32_t tasks;  ///< bit i: task i
    bool is_done;         ///< done whatever the tasks inspect
    ByWeight packets;     ///< all packets
    ByWeight held;        ///< share that other tasks inspect; see hold_but_for()
  };
  struct Done {
    double packets = 0, times = 0;  ///< per packet
  };

  Group& group_of(std::size_t part, std::uint32_t tasks, bool is_done) noexcept;
  static ByWeight looked_at(const Group& group, std::uint32_t tasks, std::span<const TaskShare> shares) noexcept;
  void add(const Group& group, const ByWeight& looked_at, Done& done) const noexcept;
  double part_ns(std::size_t part, const Done& done) const noexcept;

  TaskWork work_;
  std::vector<Group> groups_;                        ///< groups of the same part are adjacent
  std::vector<Group> of_task_;                       ///< groups of the task that is not held
  std::array<Done, TaskWork::kMostParts> others_{};  ///< by part of the task: groups without the task
  double held_ns_ = 0;                               ///< cost of everything but the task's parts
};

}  // namespace parshall
