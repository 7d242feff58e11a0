// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"

namespace parshall {

/// States beyond those that a user names: what remains of a user's state if some of its tasks skip a flow.
///
/// A state can lose only tasks that its lightest state lacks; one without a lighter state keeps all its tasks.
/// Shape: 2^tasks numbers for each state.
class ReducedStates {
 public:
  static constexpr std::size_t kMostTasks = 5;

  ReducedStates() = default;

  /// Makes the states. `tasks` has, for each task that measures, the states that it is in, as bits. `lighter` is that
  /// of StatePlan. Fails if there would be too many states.
  static Result<ReducedStates> make(std::span<const std::uint64_t> tasks, std::span<const std::uint8_t> lighter,
                                    std::size_t most_states);

  std::size_t base_states() const noexcept { return base_; }
  std::size_t states() const noexcept { return tasks_of_.size(); }  ///< including those that the user named

  /// Returns all states, named and reduced, that have the task's measures.
  std::uint64_t states_of(std::size_t task) const noexcept;
  /// Returns the user's states in which the task always keeps its flows.
  std::uint64_t fixed_states_of(std::size_t task) const noexcept;
  std::uint32_t tasks_of(std::size_t state) const noexcept { return tasks_of_[state]; }  ///< bit i: task i

  /// Returns the state for flows of a base state that only the tasks in `kept` see, besides those that always keep
  /// them.
  std::uint8_t state_for(std::uint8_t base, std::uint32_t kept) const noexcept {
    return by_kept_[(std::size_t{base} << tasks_) | kept];
  }

 private:
  std::size_t base_ = 0, tasks_ = 0;
  std::vector<std::uint32_t> tasks_of_, fixed_;  ///< by state, and by base state
  std::vector<std::uint8_t> by_kept_;            ///< by base state and tasks
};

}  // namespace parshall
