// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "control/followed_task.hpp"

namespace parshall {

/// Observations of a worker in one window. Counts are packets.
struct ControlWindow {
  double window_ns = 0;
  double busy_ns = 0;         ///< time spent on packets
  std::uint64_t offered = 0;  ///< includes those that the device dropped
  std::uint64_t counted = 0;  ///< fewer than offered if any were lost
  std::uint64_t missed = 0;   ///< part of the offered: lost for lack of time
  std::uint64_t new_flows = 0;
  std::span<const double> packets;                              ///< by base state and weight (FlowWeight)
  std::span<const double> done;                                 ///< packets, or flows, that each part was done for
  std::array<double, FlowWeight::kClasses> flows_per_packet{};  ///< of a window, by weight; rough
};

/// What does not change about a worker's work. Parts of the work are what tasks share, such as following connections.
struct OverloadSetup {
  std::size_t tasks = 0;
  double base_ns = 0;                         ///< rough cost of every packet; above 0
  std::vector<double> part_ns;                ///< by part: rough cost per packet; for flow_parts, per flow
  std::uint32_t flow_parts = 0;               ///< bit j: part j is done once per flow and window
  std::uint64_t always = 0;                   ///< bit i: part 0 is done for all of base state i
  std::vector<std::uint8_t> lighter;          ///< by base state; see StatePlan
  std::vector<std::uint32_t> parts_of_state;  ///< by base state: bit j: part j
};

/// What a policy decided last.
struct OverloadState {
  bool is_reduced = false;     ///< some task does not follow some flows
  bool fits = true;            ///< false: packets take too long, whatever tasks leave out
  std::uint32_t given_up = 0;  ///< bit i: task i is to find less than it wants
  double factor = 1;           ///< time that packets take, relative to what the costs say
};

/// Decides at the end of each window which flows each task follows in the next one.
class OverloadPolicy {
 public:
  virtual ~OverloadPolicy() = default;

  /// Ends a window; `tasks` are the same ones each time. Returns true if any share changed.
  virtual bool end_window(const ControlWindow& window, std::span<const FollowedTask> tasks) noexcept = 0;

  /// Returns the share of the flows of this base state and weight that the task follows. A flow is followed if its hash
  /// is below the share, so a task with fewer flows follows a subset of another's.
  virtual double share(std::size_t task, std::size_t state, std::size_t weight) const noexcept = 0;

  virtual OverloadState state() const noexcept = 0;
};

/// A policy under its name for `--overload`.
struct OverloadPolicyEntry {
  std::string_view name;
  std::string_view help;
  /// Makes the policy for one worker; returns null if all tasks always follow all flows.
  std::unique_ptr<OverloadPolicy> (*make)(const OverloadSetup& setup);
};

/// Lists all policies that the program knows, the default first.
std::span<const OverloadPolicyEntry> overload_policies() noexcept;

/// Returns the policy by which all tasks follow all flows.
const OverloadPolicyEntry& no_adaptation() noexcept;

/// Adds policies of another program; call it before any other function.
void add_overload_policies(std::span<const OverloadPolicyEntry> policies);

}  // namespace parshall
