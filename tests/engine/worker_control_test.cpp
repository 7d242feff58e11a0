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

/// Three states, of which the one before is the lighter one; half of the packets are of the last one.
class Controlled : public ::testing::Test {
 protected:
  void use(const OverloadPolicyEntry& policy) {
    auto file = StateFile::parse(R"(
default = "a"
state = [ { name = "a", tasks = ["count"] }, { name = "b", tasks = ["bursty"], lighter = "a" },
          { name = "c", tasks = ["bursty", "retransmissions"], lighter = "b" } ]
)",
                                 "test");
    ASSERT_TRUE(file) << file.error().message;
    const TaskOptions options{.window = {WindowLength::Unit::ns, kControlWindowNs}, .keys = 1024};
    auto tasks = TaskSets::make(file->tasks, options);
    ASSERT_TRUE(tasks) << tasks.error().message;
    auto groups = TaskGroups::make(*tasks, file->plan);
    ASSERT_TRUE(groups);
    ASSERT_EQ(groups->count, 2u);
    std::size_t group = 0;
    for (TaskSpec& spec : file->tasks)
      if (spec.text != "count") {
        spec.states |= groups->states.states_of(group++);
        spec.skips_flows = true;
      }
    tasks = TaskSets::make(file->tasks, options);
    plan_ = std::make_shared<const StatePlan>(file->plan);
    const std::size_t states = groups->states.states();
    control_plan_.policy = &policy;
    control_plan_.watch(*tasks);
    ASSERT_EQ(control_plan_.recalls->size(), 2u);
    control_plan_.use(*std::move(groups), *plan_, *tasks, tasks->windows(states), tasks->findings(states));
    effective_.resize(states);
    control_.emplace(std::make_shared<const ControlPlan>(std::move(control_plan_)), *plan_);
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
  std::vector<std::uint64_t> effective_;
};

TEST_F(Controlled, IsDueAtWholeMultiplesOfTheWindowOnThePacketsClock) {
  use(overload_policies().front());
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

TEST_F(Controlled, TasksLeaveOutFlowsWhileMoreComesThanThereIsTimeForAndTakeThemBack) {
  use(overload_policies().front());
  for (int i = 0; i < 30; ++i) pass(10'000, 10'000, 0.2);
  EXPECT_EQ(share_kept(), 1) << "there is time";
  EXPECT_EQ(control_->counts().reduced, 0u);
  for (int i = 0; i < 30; ++i) pass(200'000, 80'000, 1);
  EXPECT_LT(share_kept(), 0.5) << "what the device missed counts: 125 ns a packet for 50 ns there are";
  EXPECT_GT(control_->counts().reduced, 25u);
  EXPECT_GT(control_->counts().reduced_ns, 25 * kControlWindowNs);
  EXPECT_NE(control_->counts().given_up, 0u);
  EXPECT_GT(control_->counts().given_up_ns[0], 0u);
  for (int i = 0; i < 60; ++i) pass(10'000, 10'000, 0.1);
  EXPECT_EQ(share_kept(), 1);
  EXPECT_EQ(control_->counts().given_up, 0u);
}

TEST_F(Controlled, WithoutAdaptationFlowsKeepTheirStates) {
  use(no_adaptation());
  for (int i = 0; i < 30; ++i) pass(200'000, 80'000, 1);
  EXPECT_EQ(share_kept(), 1);
  EXPECT_EQ(control_->counts().reduced, 0u);
  EXPECT_EQ(control_->counts().windows, 29u) << "the first has nothing to compare with";
}

TEST_F(Controlled, TimeThatStandsStillOrLeapsAndCountersThatDoNotMoveDoNoHarm) {
  use(overload_policies().front());
  control_->end_window({0, now_ns_}, load_, packets_, effective_, 0, 0, *states_);
  control_->end_window({0, now_ns_}, load_, packets_, effective_, 0, 0, *states_);
  now_ns_ += 1'000'000'000'000'000'000;
  for (int i = 0; i < 10; ++i) pass(0, 0, 0);
  EXPECT_EQ(share_kept(), 1);
  for (int i = 0; i < 10; ++i) pass(1'000'000, 0, 1);
  EXPECT_GE(share_kept(), 0);
}

/// Tasks of the same group follow the same flows, and each is told of.
TEST(TaskGroups, SharesGroupsWhereThereAreMoreTasksThanStatesForThem) {
  std::string tasks;
  for (int i = 0; i < 7; ++i) tasks += ", \"bursty:name=b" + std::to_string(i) + "\"";
  auto file = StateFile::parse(
      "default = \"b\"\nstate = [ { name = \"a\", tasks = [\"count\"] }, "
      "{ name = \"b\", lighter = \"a\", tasks = [\"count\"" +
          tasks + "] } ]",
      "test");
  ASSERT_TRUE(file) << file.error().message;
  const auto sets = TaskSets::make(file->tasks, {.window = {WindowLength::Unit::ns, kControlWindowNs}, .keys = 1024});
  ASSERT_TRUE(sets) << sets.error().message;
  const auto groups = TaskGroups::make(*sets, file->plan);
  ASSERT_TRUE(groups);
  EXPECT_EQ(groups->count, 5u);
  EXPECT_EQ(groups->tasks(), 7u);
  const std::vector<std::optional<std::size_t>> expected{std::nullopt, 0, 1, 2, 3, 4, 4, 4};
  EXPECT_EQ(groups->of_task, expected);
  EXPECT_EQ(groups->states.states(), 32u) << "one for each set of groups";
}

/// Six tasks of two states: those of the same states share a group, and one that the lightest state has is in none.
TEST(TaskGroups, JoinsOnlyTasksOfTheSameStates) {
  auto file = StateFile::parse(R"(
default = "c"
state = [ { name = "a", tasks = ["count", "bursty"] },
          { name = "b", tasks = ["count", "bursty", "retransmissions", "bursty:name=b1", "bursty:name=b2"], lighter = "a" },
          { name = "c", tasks = ["count", "bursty", "latency-change", "bursty:name=b3", "bursty:name=b4"], lighter = "a" } ]
)",
                               "test");
  ASSERT_TRUE(file) << file.error().message;
  const auto sets = TaskSets::make(file->tasks, {.window = {WindowLength::Unit::ns, kControlWindowNs}, .keys = 1024});
  ASSERT_TRUE(sets) << sets.error().message;
  const auto groups = TaskGroups::make(*sets, file->plan);
  ASSERT_TRUE(groups);
  EXPECT_EQ(groups->count, 5u);
  EXPECT_EQ(groups->tasks(), 6u);
  std::size_t number = 0;
  std::vector<std::uint64_t> states_of_group(groups->count);
  for (const TaskSet& set : sets->sets())
    for (const TaskSet::Member& task : set.members()) {
      const auto group = groups->of_task[number++];
      EXPECT_EQ(group.has_value(), task.name != "count" && task.name != "bursty") << task.name;
      if (!group) continue;
      if (states_of_group[*group] != 0) {
        EXPECT_EQ(states_of_group[*group], task.states & 0b111) << task.name;
      }
      states_of_group[*group] = task.states & 0b111;
      EXPECT_EQ(groups->states.states_of(*group) & 0b111, task.states & 0b111) << "no task gets flows of other states";
    }
}

/// No recall is known of a task that finds no events, so it leaves out nothing, and neither does its group.
TEST(ControlPlan, ATaskThatFindsNothingFollowsAllFlows) {
  for (const std::string_view order :
       {R"("bursty:name=b0", "quantiles:of=rtt_mean_ms")", R"("quantiles:of=rtt_mean_ms", "bursty:name=b0")"}) {
    std::string tasks = R"("count")";
    for (int i = 1; i < 5; ++i) tasks += ", \"bursty:name=b" + std::to_string(i) + "\"";
    auto file = StateFile::parse(
        "default = \"b\"\nstate = [ { name = \"a\", tasks = [\"count\"] }, { name = \"b\", "
        "lighter = \"a\", tasks = [" +
            tasks + ", " + std::string(order) + "] } ]",
        "test");
    ASSERT_TRUE(file) << file.error().message;
    const auto sets = TaskSets::make(file->tasks, {.window = {WindowLength::Unit::ns, kControlWindowNs}, .keys = 1024});
    ASSERT_TRUE(sets) << sets.error().message;
    auto groups = TaskGroups::make(*sets, file->plan);
    ASSERT_TRUE(groups);
    ASSERT_EQ(groups->count, 5u);
    ControlPlan plan;
    plan.watch(*sets);
    EXPECT_EQ(plan.recalls->size(), 5u);
    const std::size_t states = groups->states.states();
    plan.use(*std::move(groups), file->plan, *sets, sets->windows(states), sets->findings(states));
    EXPECT_EQ(plan.groups[0].counts, 0b01);
    EXPECT_EQ(plan.groups[0].fixed, 0u);
    EXPECT_EQ(plan.groups[4].counts, 0) << order;
    EXPECT_EQ(plan.groups[4].fixed, plan.groups[4].states) << order;
    EXPECT_EQ(plan.tasks_of_group[4].size(), 1u);
  }
}

TEST(ControlPlan, ChargesPacketsForWhatAllStatesNeedAndTasksForTheRest) {
  auto file = StateFile::parse(R"(
default = "c"
state = [ { name = "a", tasks = ["count"] }, { name = "b", tasks = ["bursty"], lighter = "a" },
          { name = "c", tasks = ["bursty", "retransmissions:recall=0.5,priority=3"], lighter = "b" } ]
)",
                               "test");
  ASSERT_TRUE(file) << file.error().message;
  const TaskOptions options{.window = {WindowLength::Unit::ns, kControlWindowNs}, .keys = 1024};
  for (const bool has_columns : {false, true}) {
    auto specs = file->tasks;
    const auto sets = TaskSets::make(specs, options);
    auto groups = TaskGroups::make(*sets, file->plan);
    ASSERT_TRUE(groups);
    std::size_t group = 0;
    for (TaskSpec& spec : specs)
      if (spec.text != "count") {
        spec.states |= groups->states.states_of(group++);
        spec.skips_flows = true;
      }
    const auto made = TaskSets::make(specs, options);
    const std::size_t states = groups->states.states();
    auto findings = made->findings(states);
    for (FindingNeeds& needs : findings) needs.tcp |= has_columns;
    ControlPlan plan;
    plan.watch(*made);
    plan.use(*std::move(groups), file->plan, *made, made->windows(states), findings);
    constexpr std::uint32_t kTcp = 0b10, kIat = 0b100;
    ASSERT_EQ(plan.groups.size(), 2u);
    EXPECT_NE(plan.groups[0].parts & kIat, 0u);
    EXPECT_EQ(plan.groups[0].parts & kTcp, has_columns ? kTcp : 0u);
    EXPECT_NE(plan.groups[1].parts & kTcp, 0u);
    EXPECT_EQ(plan.groups[1].recall, 0.5);
    EXPECT_EQ(plan.groups[1].priority, 3);
    EXPECT_EQ(plan.groups[1].counts, 0b11);
    EXPECT_EQ(plan.setup.part_ns[1] == 0, has_columns) << "else it would be saved by leaving out flows";
    EXPECT_EQ(plan.setup.base_ns > 100, has_columns);
    EXPECT_EQ(plan.setup.lighter, file->plan.lighter);
  }
}

TEST(RecallBoard, HandsOutWhatWasPut) {
  RecallBoard board;
  board.add("first", 0.5);
  ASSERT_EQ(board.add("second", 0.9), 1u);
  EXPECT_FALSE(board.known(1).recall);
  EXPECT_FALSE(board.known(1).knows_weights);
  KnownEvents known{.recall = 0.25, .knows_weights = true, .loss_exponent = {2, 1}};
  known.flows = {1, 2, 3, 4, 5, 6, 7, 8};
  known.events = {{{9, 8, 7, 6, 5, 4, 3, 2}, {0, 1, 0, 1, 0, 1, 0, 1}}};
  board.put(1, known);
  const KnownEvents read = board.known(1);
  EXPECT_EQ(read.recall, known.recall);
  EXPECT_TRUE(read.knows_weights);
  EXPECT_EQ(read.loss_exponent, known.loss_exponent);
  EXPECT_EQ(read.flows, known.flows);
  EXPECT_EQ(read.events, known.events);
  EXPECT_FALSE(board.known(0).recall) << "the other task's";
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

}  // namespace
}  // namespace parshall
