// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"

namespace parshall {

/// States beyond those that a user names: what is left of one of theirs where some of its tasks do not look at a flow.
///
/// A state gives up what its lightest state does without: one that names no lighter state keeps all of its tasks.
/// Shape: 2^tasks numbers for each state.
class ReducedStates {
 public:
  static constexpr std::size_t kMostTasks = 5;

  ReducedStates() = default;

  /// `tasks`: of each that measures, the states that it is in, as bits. `lighter`: StatePlan's. Fails where it would
  /// take more states than there can be.
  static Result<ReducedStates> make(std::span<const std::uint64_t> tasks, std::span<const std::uint8_t> lighter,
                                    std::size_t most_states);

  std::size_t base_states() const noexcept { return base_; }
  std::size_t states() const noexcept { return tasks_of_.size(); }  ///< with those that the user named

  /// The states of which a task's measures are: of those before, and of those beyond.
  std::uint64_t states_of(std::size_t task) const noexcept;
  /// Of the user's states: those in which it never gives way.
  std::uint64_t fixed_states_of(std::size_t task) const noexcept;
  std::uint32_t tasks_of(std::size_t state) const noexcept { return tasks_of_[state]; }  ///< bit i: task i

  /// That measures go by for flows of a base state at which only these tasks look, and those that never give way.
  std::uint8_t state_for(std::uint8_t base, std::uint32_t kept) const noexcept {
    return by_kept_[(std::size_t{base} << tasks_) | kept];
  }

 private:
  std::size_t base_ = 0, tasks_ = 0;
  std::vector<std::uint32_t> tasks_of_, fixed_;  ///< by state; by base state
  std::vector<std::uint8_t> by_kept_;            ///< by base state and tasks
};

}  // namespace parshall
