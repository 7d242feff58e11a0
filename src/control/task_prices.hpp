// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "control/task_work.hpp"

namespace parshall {

/// What a packet takes by what tasks look at. A part that several tasks share is done once; so the traffic is kept by
/// who shares what: a price of other shares is some 30 ns then, of which a choice needs some thousand.
class TaskPrices {
 public:
  TaskPrices();

  /// Nothing is allocated. What `work.part_ns` refers to is to stay until the next time.
  void set(std::span<const TaskDemand> tasks, const TaskWork& work) noexcept;

  /// How often each part is done for a packet, and by how many such parts packets are mixed: 1 for each that is done
  /// for half of them.
  struct Amounts {
    std::array<double, TaskWork::kMostParts> times{};
    double mixed = 0;
  };
  /// `shares`: one of each task.
  Amounts amounts(std::span<const TaskShare> shares) const noexcept;
  double packet_ns(std::span<const TaskShare> shares) const noexcept;

  /// Keeps what all tasks but one look at, for packet_ns_with().
  void hold_but_for(std::size_t task, std::span<const TaskShare> shares) noexcept;
  double packet_ns_with(const TaskShare& share) const noexcept;

 private:
  using ByWeight = std::array<double, FlowWeight::kClasses>;

  /// Packets for which a part is done if one of some tasks looks at their flow.
  struct Group {
    std::size_t part;
    std::uint32_t tasks;  ///< bit i: task i
    bool is_done;         ///< whatever they look at
    ByWeight packets;     ///< of all
    ByWeight held;        ///< share that others look at: hold_but_for()
  };
  struct Done {
    double packets = 0, times = 0;  ///< for a packet of all
  };

  Group& group_of(std::size_t part, std::uint32_t tasks, bool is_done) noexcept;
  static ByWeight looked_at(const Group& group, std::uint32_t tasks, std::span<const TaskShare> shares) noexcept;
  void add(const Group& group, const ByWeight& looked_at, Done& done) const noexcept;
  double part_ns(std::size_t part, const Done& done) const noexcept;

  TaskWork work_;
  std::vector<Group> groups_;                        ///< those of one part together
  std::vector<Group> of_task_;                       ///< of these: the task's that is not held
  std::array<Done, TaskWork::kMostParts> others_{};  ///< by part of the task: groups that it has no part in
  double held_ns_ = 0;                               ///< all but the task's parts
};

}  // namespace parshall
