// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/states/reduced_states.hpp"

#include <gtest/gtest.h>

#include <array>

namespace parshall {
namespace {

using Tasks = std::vector<std::uint64_t>;
using Lighter = std::vector<std::uint8_t>;

ReducedStates of(const Tasks& tasks, const Lighter& lighter) {
  auto made = ReducedStates::make(tasks, lighter, 64);
  EXPECT_TRUE(made) << made.error().message;
  return *std::move(made);
}

TEST(ReducedStates, AreThoseOfAnyTasksThatAreLeft) {
  // States 0: none, 1: a and b, 2: b.
  const ReducedStates states = of({0b010, 0b110}, {0, 0, 0});
  EXPECT_EQ(states.base_states(), 3u);
  EXPECT_EQ(states.states(), 4u) << "a alone is no state of the user's";
  EXPECT_EQ(states.state_for(1, 0b11), 1);
  EXPECT_EQ(states.state_for(1, 0b01), 3);
  EXPECT_EQ(states.state_for(1, 0b10), 2);
  EXPECT_EQ(states.state_for(1, 0b00), 0);
  EXPECT_EQ(states.state_for(2, 0b01), 0);
  EXPECT_EQ(states.state_for(0, 0b11), 0);
  EXPECT_EQ(states.states_of(0), 0b1010u);
  EXPECT_EQ(states.states_of(1), 0b0110u);
  for (std::size_t state = 0; state < states.states(); ++state)
    for (std::size_t task = 0; task < 2; ++task)
      EXPECT_EQ(states.states_of(task) >> state & 1, states.tasks_of(state) >> task & 1u);
}

TEST(ReducedStates, AStateGivesUpWhatItsLightestDoesWithout) {
  // 0: a; 1: a and b, lighter is 0; 2: a, b and c, lighter is 1; 3: b, has no lighter one.
  const ReducedStates states = of({0b0111, 0b1110, 0b0100}, {0, 0, 1, 3});
  EXPECT_EQ(states.fixed_states_of(0), 0b0111u);
  EXPECT_EQ(states.fixed_states_of(1), 0b1000u);
  EXPECT_EQ(states.fixed_states_of(2), 0u);
  EXPECT_EQ(states.state_for(2, 0), 0);
  EXPECT_EQ(states.state_for(3, 0), 3);
  EXPECT_EQ(states.tasks_of(states.state_for(2, 0b100)), 0b101u);
}

TEST(ReducedStates, NoMoreThanThereCanBe) {
  EXPECT_FALSE(ReducedStates::make(Tasks(6, 1), Lighter{0}, 64));
  EXPECT_TRUE(ReducedStates::make(Tasks(5, 1), Lighter{0}, 64)) << "which have no lighter one";
  EXPECT_TRUE(ReducedStates::make(Tasks(5, 2), Lighter{0, 0}, 32));
  const auto too_many = ReducedStates::make(Tasks(5, 2), Lighter{0, 0}, 31);
  ASSERT_FALSE(too_many);
  EXPECT_NE(too_many.error().message.find("more than 31"), std::string::npos);
}

TEST(ReducedStates, WithoutTasksAreTheUsers) {
  const ReducedStates states = of({}, {0, 0});
  EXPECT_EQ(states.states(), 2u);
  EXPECT_EQ(states.state_for(1, 0), 1);
}

}  // namespace
}  // namespace parshall
