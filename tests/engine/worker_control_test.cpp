// SPDX-License-Identifier: Apache-2.0
#include "engine/worker_control.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace parshall {
namespace {

constexpr std::uint64_t kControlWindowNs = 10'000'000, kBeginNs = 500 * kControlWindowNs + 123;

FlowKey key_of(std::uint32_t number) {
  FlowKey key;
  key.ip_version = 4;
  std::memcpy(key.address.data(), &number, sizeof number);
  return key;
}

/// Three states, each of which gives way to the one before; half of the packets are of the last one.
class Controlled : public ::testing::Test {
 protected:
  void use(Controller::Mode mode) {
    auto file = StateFile::parse(R"(
default = "a"
state = [ { name = "a", tasks = ["count"] }, { name = "b", tasks = ["bursty"], lighter = "a" },
          { name = "c", tasks = ["bursty", "retransmissions"], lighter = "b" } ]
)",
                                 "test");
    ASSERT_TRUE(file) << file.error().message;
    auto tasks = TaskSets::make(file->tasks, {.window = {WindowLength::Unit::ns, kControlWindowNs}, .keys = 1024});
    ASSERT_TRUE(tasks) << tasks.error().message;
    plan_ = std::make_shared<const StatePlan>(file->plan);
    control_plan_ = ControlPlan::guess(*plan_, tasks->windows(3), tasks->findings(3));
    control_plan_.controller.mode = mode;
    control_plan_.watch(*tasks);
    ASSERT_TRUE(control_plan_.graph(*plan_));
    control_.emplace(control_plan_, *plan_);
    states_.emplace(plan_, /*can_wait=*/false, /*seed=*/1);
  }

  /// Goes on to the end of the next window, in which so many packets came and took so long.
  void pass(std::uint64_t offered, std::uint64_t taken, double busy_share) {
    now_ns_ += kControlWindowNs;
    load_.missed += offered - taken;
    load_.all_ticks += 1'000'000;
    load_.busy_ticks += static_cast<std::uint64_t>(1e6 * busy_share);
    load_.rounds += (taken + 255) / 256;
    load_.polled += taken;
    load_.round_cycles += 1'000;
    packets_[2 * FlowWeight::kClasses] += taken / 2;
    packets_[0] += taken - taken / 2;
    const double kept = share_kept();
    effective_[2] += static_cast<std::uint64_t>(static_cast<double>(taken / 2) * kept);
    effective_[0] += taken - static_cast<std::uint64_t>(static_cast<double>(taken / 2) * kept);
    ASSERT_TRUE(control_->due({0, now_ns_}));
    control_->end_window({0, now_ns_}, load_, packets_, effective_, 0, 0, *states_);
    ASSERT_FALSE(control_->due({0, now_ns_}));
  }

  double share_kept() const {
    int kept = 0;
    for (std::uint32_t i = 0; i < 10'000; ++i) kept += states_->effective_state(2, states_->hash_of(key_of(i)), 0) == 2;
    return kept / 1e4;
  }

  std::shared_ptr<const StatePlan> plan_;
  ControlPlan control_plan_;
  std::optional<WorkerControl> control_;
  std::optional<FlowStates> states_;
  std::uint64_t now_ns_ = kBeginNs;
  WorkerLoad load_;
  std::vector<std::uint64_t> packets_ = std::vector<std::uint64_t>(3 * FlowWeight::kClasses);  ///< by state and weight
  std::vector<std::uint64_t> effective_ = std::vector<std::uint64_t>(3);
};

TEST_F(Controlled, IsDueAtWholeMultiplesOfTheWindowOnThePacketsClock) {
  use(Controller::Mode::adapt);
  EXPECT_FALSE(control_->due({0, 0})) << "nothing is known of the link";
  EXPECT_TRUE(control_->due({0, kBeginNs})) << "it begins with the first packet";
  control_->end_window({0, kBeginNs}, load_, packets_, effective_, 0, 0, *states_);
  EXPECT_FALSE(control_->due({0, kBeginNs}));
  EXPECT_FALSE(control_->due({0, 501 * kControlWindowNs - 1}));
  EXPECT_TRUE(control_->due({0, 501 * kControlWindowNs}));
  control_->end_window({0, 504 * kControlWindowNs + 7}, load_, packets_, effective_, 0, 0, *states_);
  EXPECT_FALSE(control_->due({0, 505 * kControlWindowNs - 1})) << "windows that nobody was there for are passed over";
  EXPECT_TRUE(control_->due({0, 505 * kControlWindowNs}));
}

TEST_F(Controlled, FlowsGiveWayWhileMoreComesThanThereIsTimeForAndComeBack) {
  use(Controller::Mode::adapt);
  for (int i = 0; i < 30; ++i) pass(10'000, 10'000, 0.2);
  EXPECT_EQ(share_kept(), 1) << "there is time";
  EXPECT_EQ(control_->counts().shifted, 0u);
  for (int i = 0; i < 30; ++i) pass(200'000, 80'000, 1);
  EXPECT_LT(share_kept(), 0.5) << "what the device missed counts: 125 ns a packet for 50 ns there are";
  EXPECT_GT(control_->counts().shifted, 25u);
  EXPECT_GT(control_->counts().shifted_ns, 25 * kControlWindowNs);
  for (int i = 0; i < 60; ++i) pass(10'000, 10'000, 0.1);
  EXPECT_EQ(share_kept(), 1);
}

TEST_F(Controlled, WithoutAdaptationFlowsKeepTheirStates) {
  use(Controller::Mode::none);
  for (int i = 0; i < 30; ++i) pass(200'000, 80'000, 1);
  EXPECT_EQ(share_kept(), 1);
  EXPECT_EQ(control_->counts().shifted, 0u);
  EXPECT_EQ(control_->counts().windows, 29u) << "the first has nothing to compare with";
}

TEST_F(Controlled, TimeThatStandsStillOrLeapsAndCountersThatDoNotMoveDoNoHarm) {
  use(Controller::Mode::recover);
  control_->end_window({0, now_ns_}, load_, packets_, effective_, 0, 0, *states_);
  control_->end_window({0, now_ns_}, load_, packets_, effective_, 0, 0, *states_);
  now_ns_ += 1'000'000'000'000'000'000;
  for (int i = 0; i < 10; ++i) pass(0, 0, 0);
  EXPECT_EQ(share_kept(), 1);
  for (int i = 0; i < 10; ++i) pass(1'000'000, 0, 1);
  EXPECT_GE(share_kept(), 0);
}

TEST(WorkerLoad, AskingMoreOftenThanNeedBeIsNoWork) {
  WorkerLoad load{
      .polled = 256, .busy_ticks = 800, .all_ticks = 1000, .rounds = 1, .poll_cycles = 50, .round_cycles = 100};
  EXPECT_EQ(load.busy_share(256), 0.8) << "a whole batch";
  load.rounds = 4;
  EXPECT_DOUBLE_EQ(load.busy_share(256), 0.8 * (1 - 0.5 * 0.75)) << "three of four times were too many";
  EXPECT_EQ(load.busy_share(64), 0.8) << "where batches are no larger";
  EXPECT_EQ(WorkerLoad().busy_share(256), 0);
  const WorkerLoad since = load - WorkerLoad{.polled = 56, .busy_ticks = 300, .all_ticks = 400, .rounds = 3};
  EXPECT_EQ(since.busy_ticks, 500u);
  EXPECT_EQ(since.all_ticks, 600u);
  EXPECT_EQ(since.polled, 200u);
  EXPECT_EQ(since.rounds, 1u);
  EXPECT_EQ(since.poll_cycles, 50u);
}

TEST(ControlPlan, AStepThatSavesNoTimeIsLeftOut) {
  auto file = StateFile::parse(R"(
default = "a"
state = [ { name = "a", tasks = ["count"] }, { name = "b", tasks = ["count", "heavy-hitters"], lighter = "a" },
          { name = "c", tasks = ["bursty"], lighter = "b" },
          { name = "d", tasks = ["bursty", "entropy"], lighter = "c" } ]
)",
                               "test");
  ASSERT_TRUE(file);
  auto tasks = TaskSets::make(file->tasks, {.window = {WindowLength::Unit::ns, kControlWindowNs}, .keys = 1024});
  ASSERT_TRUE(tasks);
  const ControlPlan plan = ControlPlan::guess(file->plan, tasks->windows(4), tasks->findings(4));
  EXPECT_EQ(plan.lighter, (std::vector<std::uint8_t>{0, 1, 1, 1})) << "tasks that only count take nothing of a worker";
  EXPECT_EQ(plan.cost_ns[0], plan.cost_ns[1]);
  EXPECT_EQ(plan.cost_ns[2], plan.cost_ns[3]);
  EXPECT_GT(plan.cost_ns[2], plan.cost_ns[1]);
}

}  // namespace
}  // namespace parshall
