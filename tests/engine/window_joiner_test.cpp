// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "../large_event.hpp"
#include "../resident_bytes.hpp"
#include "base/random.hpp"
#include "engine/analyst.hpp"
#include "pipeline/measure/windows/measures/bursts.hpp"

namespace parshall {
namespace {

FlowMessage flow_message(std::uint64_t window, const FlowWindow& flow) {
  return {{WindowMessage::Kind::flow, 0, window}, flow};
}

TaskSets count_task(const std::string& window) {
  const std::vector<TaskSpec> specs{{"count:window=" + window}};
  auto tasks = TaskSets::make(specs, {.keys = 1024});
  EXPECT_TRUE(tasks);
  return *std::move(tasks);
}

std::uint64_t value_of(const Event& event, std::string_view name) {
  for (const EventValue& value : event.values)
    if (value.name == name) return std::get<std::uint64_t>(value.value);
  ADD_FAILURE() << name;
  return 0;
}

/// Each worker tells of its windows in its own time; the one before may still be told of when flows of the open one
/// end.
TEST(WindowJoiner, HandsOverEachWindowOnceAllWorkersHaveToldOfItAndInOrder) {
  for (const std::size_t workers : {1, 2, 5}) {
    SplitMix64 random(workers);
    TaskSets tasks = count_task("1000p");
    EventQueue events(/*can_wait=*/false);
    WindowJoiner joiner(tasks.sets()[0], workers, events);
    std::map<std::uint64_t, std::uint64_t> packets, flows;
    struct Worker {
      std::uint64_t closing = 0, open = 0;
      WindowTotals closing_totals, open_totals;
    };
    std::vector<Worker> all(workers);
    const auto tell = [&](std::uint64_t window, WindowTotals& totals) {
      const FlowWindow flow{.key = {}, .packets = 1 + random.below(5)};
      totals.packets += flow.packets;
      packets[window] += flow.packets;
      ++flows[window];
      joiner.tell(bytes_of(flow_message(window, flow)));
    };
    for (std::size_t i = 0; i < workers; ++i) joiner.end(i, 0, {{}, 0});
    for (int step = 0; step < 20'000; ++step) {
      const std::size_t index = random.below(workers);
      Worker& worker = all[index];
      if (worker.closing != worker.open && random.below(10) == 0) {
        joiner.end(index, worker.closing, {worker.closing_totals, worker.open});
        worker.closing = worker.open;
      } else if (worker.closing == worker.open && random.below(20) == 0) {
        worker.closing_totals = std::exchange(worker.open_totals, {});
        worker.open += 1 + random.below(3);
      } else {
        const bool of_the_last = worker.closing != worker.open && random.below(2) == 0;
        tell(of_the_last ? worker.closing : worker.open, of_the_last ? worker.closing_totals : worker.open_totals);
      }
    }
    for (std::size_t i = 0; i < workers; ++i) {
      if (all[i].closing != all[i].open) joiner.end(i, all[i].closing, {all[i].closing_totals, all[i].open});
      joiner.end(i, all[i].open, {all[i].open_totals, WindowEnd::kAll});
    }
    const std::vector<Event> told = events.take();
    ASSERT_EQ(told.size(), packets.size());
    EXPECT_GT(told.size(), 100u);
    EXPECT_TRUE(joiner.balanced());
    auto truth = packets.begin();
    for (const Event& event : told) {
      ASSERT_EQ(event.window.number, truth->first);
      ASSERT_EQ(value_of(event, "packets"), truth->second);
      ASSERT_EQ(value_of(event, "flows"), flows[truth->first]);
      ++truth;
    }
  }
}

TEST(WindowJoiner, AWindowIsHandedOverBeforeAWorkerThatLagsHasSeenAllOfTheNext) {
  TaskSets tasks = count_task("1000p");
  EventQueue events(/*can_wait=*/false);
  WindowJoiner joiner(tasks.sets()[0], 2, events);
  joiner.end(0, 3, {{.packets = 2}, 4});
  joiner.tell(bytes_of(flow_message(3, {.key = {}, .packets = 2})));
  EXPECT_TRUE(events.take().empty()) << "the second worker may tell of window 3";
  joiner.end(1, 1, {{}, 4});
  EXPECT_EQ(events.take().size(), 1u);
}

TEST(WindowJoiner, SaysWhenFlowsDoNotAddUp) {
  TaskSets tasks = count_task("1000p");
  EventQueue events(/*can_wait=*/false);
  WindowJoiner joiner(tasks.sets()[0], 1, events);
  joiner.tell(bytes_of(flow_message(0, {.key = {}, .packets = 2})));
  joiner.end(0, 0, {{.packets = 3, .unlisted_packets = 1}, 1});
  EXPECT_TRUE(joiner.balanced());
  joiner.tell(bytes_of(flow_message(1, {.key = {}, .packets = 2})));
  joiner.end(0, 1, {{.packets = 3}, 2});
  EXPECT_FALSE(joiner.balanced());
}

/// A task of state 1 that looks for bursts, and one that counts, where flows of state 1 may be reduced to state 0.
class MissedFlows : public ::testing::Test {
 protected:
  MissedFlows() {
    const std::vector<TaskSpec> specs{{"bursty:window=1000p,most=5,recall=0.9", 2}, {"count:window=1000p", 2}};
    auto made = TaskSets::make(specs, {.keys = 1024});
    EXPECT_TRUE(made);
    tasks_ = *std::move(made);
    EXPECT_EQ(board_->add("bursty", 0.9), 0u);
    joiner_.emplace(tasks_->sets()[0], 1, events_, std::vector<StateOutcome>(), RecallWatch(tasks_->sets()[0], board_));
  }

  struct Flow {
    std::uint8_t effective_state, other_state;
    bool bursts;
    std::uint64_t packets = 20;
  };

  /// The window's events about bursts: those found, and what was said of the recall.
  std::pair<std::size_t, std::optional<Event>> window(std::span<const Flow> flows, std::uint64_t unlisted_flows = 0,
                                                      std::uint64_t missed_packets = 0) {
    WindowTotals totals{.unlisted_flows = unlisted_flows, .missed_packets = missed_packets};
    for (const Flow& flow : flows) {
      const Bursts bursts{.packets = flow.bursts ? flow.packets : 0};
      const FlowMessage message = flow_message(number_, {.key = {},
                                                         .packets = flow.packets,
                                                         .state = 1,
                                                         .effective_state = flow.effective_state,
                                                         .weight = FlowWeight::of(flow.packets),
                                                         .other_state = flow.other_state});
      std::vector<std::byte> bytes(sizeof message + tasks_->sets()[0].measures().bytes());
      std::memcpy(bytes.data(), &message, sizeof message);
      std::memcpy(bytes.data() + sizeof message, &bursts, sizeof bursts);
      joiner_->tell(bytes);
      totals.packets += flow.packets;
    }
    joiner_->end(0, number_, {totals, number_ + 1});
    ++number_;
    std::pair<std::size_t, std::optional<Event>> told;
    std::uint64_t counted = 0;
    for (const Event& event : events_.take()) {
      if (event.task == "count")
        counted = value_of(event, "flows");
      else if (event.kind == EventKind::recall)
        told.second = event;
      else
        ++told.first;
    }
    EXPECT_EQ(counted, flows.size()) << "who only counts misses nobody";
    return told;
  }

  static double number_of(const Event& event, std::string_view name) {
    for (const EventValue& value : event.values)
      if (value.name == name) return std::get<double>(value.value);
    ADD_FAILURE() << name;
    return -1;
  }

  using ByWeight = KnownEvents::ByWeight;

  ByWeight events_by_weight() const { return board_->known(0).events[static_cast<std::size_t>(EventMeasure::flows)]; }

  std::optional<TaskSets> tasks_;
  EventQueue events_{/*can_wait=*/false};
  std::shared_ptr<RecallBoard> board_ = std::make_shared<RecallBoard>();
  std::optional<WindowJoiner> joiner_;
  std::uint64_t number_ = 5;
};

TEST_F(MissedFlows, NothingIsSaidOfAWindowWhoseFlowsAllWereSeen) {
  const std::vector<Flow> flows(40, {1, 1, true});
  const auto [found, said] = window(flows);
  EXPECT_EQ(found, 5u) << "no more than it may";
  EXPECT_FALSE(said);
  EXPECT_EQ(board_->known(0).recall, 1.0);
  EXPECT_FALSE(board_->known(0).knows_weights) << "windows of packets";
  const RecallSummary summary = *joiner_->recalls().summary(0);
  EXPECT_EQ(summary.windows, 1u);
  EXPECT_EQ(summary.incomplete, 0u);
  EXPECT_EQ(summary.below, 0u);
  EXPECT_EQ(summary.mean, 1);
  EXPECT_EQ(summary.threshold, 0.9);
  EXPECT_FALSE(joiner_->recalls().summary(1)) << "a task that only counts";
}

TEST_F(MissedFlows, RecallIsEstimatedFromFlowsOfTheSameStateThatWereSeen) {
  std::vector<Flow> flows;
  for (int i = 0; i < 400; ++i) flows.push_back({1, 1, i % 4 == 0});  // a quarter of them are bursty
  for (int i = 0; i < 400; ++i) flows.push_back({0, 0, true});        // what they do nobody sees
  const auto [found, said] = window(flows);
  EXPECT_EQ(found, 5u);
  ASSERT_TRUE(said);
  EXPECT_EQ(value_of(*said, "flows_seen"), 400u);
  EXPECT_EQ(value_of(*said, "flows_missed"), 400u);
  EXPECT_NEAR(number_of(*said, "recall"), 0.5, 1e-9) << "a hundred are as many more, whatever was written of them";
  EXPECT_GT(number_of(*said, "recall_at_least"), 0.35);
  EXPECT_LT(number_of(*said, "recall_at_least"), 0.5);
  EXPECT_NEAR(*board_->known(0).recall, 0.5, 1e-9);
  const RecallSummary summary = *joiner_->recalls().summary(0);
  EXPECT_EQ(summary.incomplete, 1u);
  EXPECT_EQ(summary.below, 1u);
  EXPECT_EQ(summary.least, number_of(*said, "recall_at_least"));
}

TEST_F(MissedFlows, HeavyFlowsAreReckonedWithByWhatHeavyFlowsDid) {
  std::vector<Flow> flows;
  for (int i = 0; i < 400; ++i) flows.push_back({1, 1, i % 4 == 0});
  for (int i = 0; i < 40; ++i) flows.push_back({1, 1, true, 600});
  (void)window(flows);
  for (std::size_t i = 400; i < flows.size(); ++i) flows[i] = {0, 0, true, 600};  // now they are reduced
  const auto [found, said] = window(flows);
  ASSERT_TRUE(said);
  EXPECT_NEAR(number_of(*said, "recall"), 100 / 140.0, 1e-9);
  EXPECT_NEAR(events_by_weight()[7], 40, 1e-9);
}

TEST_F(MissedFlows, FlowsSeenInPartAndThoseThatNobodyWasToldOfCountAsMissed) {
  std::vector<Flow> flows(100, {1, 1, true});
  for (int i = 0; i < 30; ++i) flows.push_back({1, 0, true});
  for (int i = 0; i < 20; ++i) flows.push_back({0, 1, false});
  const auto [found, said] = window(flows, /*unlisted_flows=*/7);
  ASSERT_TRUE(said);
  EXPECT_EQ(value_of(*said, "flows_seen"), 150u);
  EXPECT_EQ(value_of(*said, "flows_missed"), 57u);
}

TEST_F(MissedFlows, FlowsSeenInPartDoNotShowHowManyEventsThereAre) {
  std::vector<Flow> flows;
  for (int i = 0; i < 100; ++i) flows.push_back({1, 1, i % 2 == 0});
  for (int i = 0; i < 20; ++i) window(flows);
  for (Flow& flow : flows) flow = {0, 0, true};
  for (int i = 0; i < 10; ++i) flows[i] = {1, 0, false};  // they come back each time, and have no past
  for (int i = 0; i < 40; ++i) window(flows);
  const ByWeight events = events_by_weight();
  EXPECT_NEAR(std::accumulate(events.begin(), events.end(), 0.0), 50, 1);
}

TEST_F(MissedFlows, PacketsThatTheDeviceMissedAreMissedByAllTasksAndForAWhile) {
  const std::vector<Flow> seen(90, {1, 1, true});
  const auto [found, said] = window(seen, 0, /*missed_packets=*/200);  // of 2000
  ASSERT_TRUE(said);
  EXPECT_EQ(value_of(*said, "packets_missed"), 200u);
  EXPECT_NEAR(number_of(*said, "recall"), std::pow(0.9, BlindLoss::kUnknown), 1e-9);
  EXPECT_NEAR(number_of(*said, "recall_at_least"), 0.7, 1e-9);
  EXPECT_EQ(board_->known(0).recall, 1) << "flows that come back bring none of them";
  const auto next = window(seen).second;
  ASSERT_TRUE(next) << "flows lack what came before";
  EXPECT_NEAR(number_of(*next, "recall"), std::pow(0.95, BlindLoss::kUnknown), 1e-9);
  for (int i = 0; i < 12; ++i) window(seen);
  EXPECT_FALSE(window(seen).second);
}

TEST_F(MissedFlows, WhatALostPacketHidesIsLearnt) {
  const std::vector<Flow> seen(90, {1, 1, true});
  for (int i = 0; i < 30; ++i) window(seen);
  std::optional<Event> said;
  for (int i = 0; i < 200; ++i) said = window(seen, 0, /*missed_packets=*/200).second;  // of 2000: a tenth fewer
  ASSERT_TRUE(said);
  EXPECT_NEAR(number_of(*said, "recall"), 0.9, 0.002);
}

TEST_F(MissedFlows, EachWindowsFlowsAreItsOwn) {
  const std::vector<Flow> seen(60, {1, 1, true}), missed(60, {0, 0, true});
  window(seen);
  const auto [found, said] = window(missed);
  ASSERT_TRUE(said);
  EXPECT_EQ(value_of(*said, "flows_seen"), 0u);
  EXPECT_EQ(number_of(*said, "recall"), 0) << "by what the window before has shown";
  EXPECT_FALSE(window(seen).second);
  EXPECT_EQ(joiner_->recalls().summary(0)->windows, 3u);
  EXPECT_EQ(joiner_->recalls().summary(0)->incomplete, 1u);
}

TEST_F(MissedFlows, EachWindowIsToldOnceWhereSomebodyAskedWhetherOrNotAnythingWasMissed) {
  window(std::vector<Flow>(40, {1, 1, true}));  // nobody asked
  board_->windows = std::make_unique<FindingQueue<WindowRecall>>(/*can_wait=*/false);
  window(std::vector<Flow>(40, {1, 1, true}));
  std::vector<Flow> flows(20, {1, 1, true});
  for (int i = 0; i < 10; ++i) flows.push_back({1, 0, true});
  for (int i = 0; i < 30; ++i) flows.push_back({0, 0, true});
  const auto said = window(flows, /*unlisted_flows=*/5, /*missed_packets=*/100).second;
  const std::vector<WindowRecall> told = board_->windows->take();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].task, "bursty");
  EXPECT_EQ(told[0].window.number, 6u);
  EXPECT_EQ(told[0].threshold, 0.9);
  EXPECT_EQ(told[0].recall, 1.0);
  EXPECT_EQ(told[0].at_least, 1.0);
  EXPECT_EQ(told[0].flows_seen, 40u);
  EXPECT_EQ(told[0].flows_missed, 0u);
  EXPECT_EQ(told[0].flows_seen_in_part, 0u);
  EXPECT_EQ(told[0].packets, 800u);
  EXPECT_EQ(told[0].packets_left_out, 0u);
  EXPECT_EQ(told[1].window.number, 7u);
  EXPECT_EQ(told[1].window.totals.missed_packets, 100u);
  EXPECT_EQ(told[1].recall, number_of(*said, "recall"));
  EXPECT_EQ(told[1].at_least, number_of(*said, "recall_at_least"));
  EXPECT_EQ(told[1].flows_seen, 30u);
  EXPECT_EQ(told[1].flows_missed, 45u);
  EXPECT_EQ(told[1].flows_seen_in_part, 10u);
  EXPECT_EQ(told[1].packets, 1200u);
  EXPECT_EQ(told[1].packets_left_out, 800u);
}

TEST_F(MissedFlows, AWindowThatNothingIsKnownOfIsToldWithoutARecall) {
  board_->windows = std::make_unique<FindingQueue<WindowRecall>>(/*can_wait=*/false);
  window(std::vector<Flow>(60, {0, 0, true}));
  const std::vector<WindowRecall> told = board_->windows->take();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_FALSE(told[0].recall);
  EXPECT_FALSE(told[0].at_least);
}

TEST_F(MissedFlows, RecallIsUnknownWhereNoFlowWasEverSeen) {
  const auto [found, said] = window(std::vector<Flow>(60, {0, 0, true}));
  ASSERT_TRUE(said);
  EXPECT_EQ(said->values.size(), 3u) << "flows and packets, and no recall";
  EXPECT_EQ(board_->known(0).recall, 0.0) << "so that it gets some";
  EXPECT_EQ(joiner_->recalls().summary(0)->unknown, 1u);
}

TEST(EventQueue, DropsAndCountsWhatNobodyTakesInTime) {
  EventQueue events(/*can_wait=*/false);
  for (std::size_t i = 0; i < EventQueue::kCapacity + 10; ++i) events.put({});
  EXPECT_EQ(events.dropped(), 10u);
  EXPECT_EQ(events.take().size(), EventQueue::kCapacity);
  events.put({});
  EXPECT_EQ(events.take().size(), 1u);
}

TEST(EventQueue, TakesTheMemoryItSaysHoweverLargeEventsAre) {
  constexpr std::uint64_t kSlack = 4 << 20;  // the C library's own
  EventQueue events(/*can_wait=*/false);
  const std::uint64_t before = resident_bytes();
  for (std::size_t i = 0; i < EventQueue::kCapacity; ++i) events.put(large_event());
  EXPECT_GT(events.dropped(), 0u);
  if (!kSanitized) {
    EXPECT_LT(resident_bytes(), before + EventQueue::memory_bytes() + kSlack);
  }
}

TEST(EventQueue, HandsOutWhatWaitsInOrderAndMakesRoomMeanwhile) {
  EventQueue events(/*can_wait=*/false);
  for (std::size_t i = 0; i < EventQueue::kCapacity; ++i) events.put(Event{.task = std::to_string(i)});
  std::size_t told = 0;
  events.drain([&](const Event& event) {
    EXPECT_EQ(event.task, std::to_string(told++));
    events.put(Event{.task = "later"});
  });
  EXPECT_EQ(told, EventQueue::kCapacity);
  EXPECT_EQ(events.dropped(), 0u);
  EXPECT_EQ(events.take().size(), EventQueue::kCapacity);
}

/// What a task of flows that were all seen says of its recall in a window of which a tenth of the packets was missed.
double recall_at_a_tenth_lost(const std::string& task) {
  auto made = TaskSets::make(std::vector<TaskSpec>{{task + ":window=1000p,recall=0.9", 2}}, {.keys = 1024});
  EXPECT_TRUE(made) << made.error().message;
  TaskSets tasks = *std::move(made);
  EventQueue events(/*can_wait=*/false);
  const auto board = std::make_shared<RecallBoard>();
  board->add(task, 0.9);
  WindowJoiner joiner(tasks.sets()[0], 1, events, {}, RecallWatch(tasks.sets()[0], board));
  for (int flow = 0; flow < 90; ++flow) {
    const FlowMessage message = flow_message(
        0,
        {.key = {}, .packets = 20, .state = 1, .effective_state = 1, .weight = FlowWeight::of(20), .other_state = 1});
    std::vector<std::byte> bytes(sizeof message + tasks.sets()[0].measures().bytes());
    std::memcpy(bytes.data(), &message, sizeof message);
    joiner.tell(bytes);
  }
  joiner.end(0, 0, {{.packets = 1800, .missed_packets = 200}, 1});
  for (const Event& event : events.take())
    if (event.kind == EventKind::recall)
      for (const EventValue& value : event.values)
        if (value.name == "recall") return std::get<double>(value.value);
  return 1;
}

TEST(MissedPackets, CostSharesOfTheTrafficLittleAndHistoriesTwiceAsMuch) {
  EXPECT_NEAR(recall_at_a_tenth_lost("heavy-hitters"), std::pow(0.9, 0.1), 1e-9);
  EXPECT_NEAR(recall_at_a_tenth_lost("bursty"), std::pow(0.9, BlindLoss::kUnknown), 1e-9);
  EXPECT_NEAR(recall_at_a_tenth_lost("latency-change"), std::pow(0.9, 2), 1e-9);
}

}  // namespace
}  // namespace parshall
