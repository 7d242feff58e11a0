// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/random.hpp"
#include "pipeline/analyst.hpp"

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

TEST(EventQueue, DropsAndCountsWhatNobodyTakesInTime) {
  EventQueue events(/*can_wait=*/false);
  for (std::size_t i = 0; i < EventQueue::kCapacity + 10; ++i) events.put({});
  EXPECT_EQ(events.dropped(), 10u);
  EXPECT_EQ(events.take().size(), EventQueue::kCapacity);
  events.put({});
  EXPECT_EQ(events.take().size(), 1u);
}

}  // namespace
}  // namespace parshall
