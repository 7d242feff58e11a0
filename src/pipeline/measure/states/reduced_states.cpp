// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/states/reduced_states.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace parshall {

Result<ReducedStates> ReducedStates::make(std::span<const std::uint64_t> tasks, std::span<const std::uint8_t> lighter,
                                          std::size_t most_states) {
  if (tasks.size() > kMostTasks)
    return Error{fmt::format("{} tasks measure, and at most {} can be reduced one by one", tasks.size(), kMostTasks)};
  ReducedStates made;
  made.base_ = lighter.size();
  made.tasks_ = tasks.size();
  const auto own = [&](std::size_t state) {
    std::uint32_t bits = 0;
    for (std::size_t task = 0; task < tasks.size(); ++task)
      bits |= static_cast<std::uint32_t>(tasks[task] >> state & 1) << task;
    return bits;
  };
  for (std::size_t state = 0; state < made.base_; ++state) {
    std::size_t lightest = state;
    while (lighter[lightest] != lightest) lightest = lighter[lightest];
    made.tasks_of_.push_back(own(state));
    made.fixed_.push_back(own(state) & own(lightest));
  }
  const std::uint32_t all = std::uint32_t{1} << tasks.size();
  for (std::size_t base = 0; base < made.base_; ++base)
    for (std::uint32_t kept = 0; kept < all; ++kept) {
      const std::uint32_t left = made.tasks_of_[base] & (kept | made.fixed_[base]);
      std::size_t state = base;
      if (left != made.tasks_of_[base])
        state = static_cast<std::size_t>(std::ranges::find(made.tasks_of_, left) - made.tasks_of_.begin());
      if (state == made.tasks_of_.size()) made.tasks_of_.push_back(left);
      made.by_kept_.push_back(static_cast<std::uint8_t>(state));
    }
  if (made.states() > most_states)
    return Error{fmt::format("{} states and their reduced forms are more than {}", made.base_, most_states)};
  return made;
}

std::uint64_t ReducedStates::states_of(std::size_t task) const noexcept {
  std::uint64_t states = 0;
  for (std::size_t state = 0; state < tasks_of_.size(); ++state)
    states |= static_cast<std::uint64_t>(tasks_of_[state] >> task & 1) << state;
  return states;
}

std::uint64_t ReducedStates::fixed_states_of(std::size_t task) const noexcept {
  std::uint64_t states = 0;
  for (std::size_t base = 0; base < base_; ++base)
    states |= static_cast<std::uint64_t>(fixed_[base] >> task & 1) << base;
  return states;
}

}  // namespace parshall
