// SPDX-License-Identifier: Apache-2.0
// Many tasks in many states on a million flows: the worker allocates nothing once it runs, every packet is in a flow, a
// window and a state, and what there is to say of a window is said when half of the next one has passed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <numeric>

#include "engine/analyst.hpp"
#include "engine/tables.hpp"
#include "traffic/memory_source.hpp"

namespace {

thread_local bool counting = false;
thread_local std::size_t allocations = 0;

void* allocate(std::size_t bytes, std::size_t alignment) {
  allocations += counting;
  if (void* const memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment))
    return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace parshall {
namespace {

constexpr std::size_t kFlows = 1 << 20, kBatch = 256;
constexpr std::uint64_t kWindowPackets = 1'000'000, kWindows = 4;
constexpr double kRatePps = 10e6;

constexpr const char* kStates = R"(
default = "a"
[[state]]
name = "a"
tasks = ["count", "heavy-hitters:key=src/8,threshold=0.1%", "flow-sizes"]
[[state]]
name = "b"
tasks = ["count", "heavy-hitters:key=src/8,threshold=0.1%", "bursty:within=10ms,packets=2", "entropy"]
[[state]]
name = "c"
tasks = ["count", "retransmissions", "lost-segments"]
[[state]]
name = "d"
tasks = ["count", "latency-change:after=2", "zero-windows"]
[[state]]
name = "e"
tasks = ["count", "superspreaders:method=bloom", "victims:method=hyperloglog"]
[[state]]
name = "f"
tasks = ["count", "quantiles:of=rtt_mean_ms"]
[[state]]
name = "g"
tasks = ["count", "retransmissions", "bursty:within=10ms,packets=2", "latency-change:after=2"]
[[state]]
name = "h"
tasks = ["count", "change:key=dst/8"]
[[rule]]
prefix = "0.0.0.0/3"
state = "b"
[[rule]]
filter = "src net 32.0.0.0/3"
state = "c"
[[rule]]
prefix = "64.0.0.0/3"
state = "d"
[[rule]]
filter = "net 96.0.0.0/3 and tcp"
state = "e"
[[rule]]
prefix = "128.0.0.0/3"
state = "f"
[[rule]]
from = ["b"]
reported_by = "heavy-hitters"
state = "g"
[[rule]]
from = ["a", "c"]
reported_by = "bursty"
state = "h"
)";

template <class T>
T value_of(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

TEST(StatesLoad, AMillionFlowsInEightStatesTakeNoMemoryAndNoWindowIsLate) {
  const StateFile file = value_of(StateFile::parse(kStates, "states"));
  TaskSets sets = value_of(TaskSets::make(file.tasks, {.window = *parse_window("100ms"), .keys = 1 << 16}));
  std::size_t tasks = 0;
  for (const TaskSet& set : sets.sets()) tasks += set.members().size();
  ASSERT_GE(tasks, 12u);
  ASSERT_EQ(file.plan.names.size(), 8u);
  const auto plan = std::make_shared<const StatePlan>(value_of(file.plan_for(sets, 1)));
  const FlowStageOptions options{.flows = kFlows + kFlows / 4,
                                 .snapshots = false,
                                 .windows = sets.windows(8),
                                 .findings = sets.findings(8),
                                 .states = plan,
                                 .seed = 1,
                                 .waiting_rows = std::size_t{1} << 22};
  const auto stage = (*find_table("bucketed", Identity::exact))->make(options);
  EventQueue events(/*can_wait=*/false);
  Analyst analyst(std::move(sets), {&stage->window_messages()}, events, plan->outcomes);
  FrontEnd front(IpHeader::outermost, FlowIdentity(KeyFields::five_tuple, Identity::exact, 1), Partition{},
                 std::nullopt, TcpWishes{.facts = true});
  const auto trace = std::make_shared<const Trace>(value_of(Trace::make({.flows = kFlows,
                                                                         .protocol = ProtocolMix::connections,
                                                                         .packets = kWindows * kWindowPackets,
                                                                         .rate_pps = kRatePps})));
  MemorySource source(trace, kWindows * kWindowPackets);
  std::array<RawPacket, kBatch> batch;
  std::uint64_t given = 0, quarters = 0;
  std::vector<std::uint64_t> ended_at_half;  // windows over, when half of each has passed
  while (const std::size_t count = source.poll(batch)) {
    counting = true;
    stage->run(front, {batch.data(), count});
    stage->housekeep(front.link());
    counting = false;
    given += count;
    if (given / (kWindowPackets / 4) == quarters) continue;
    quarters = given / (kWindowPackets / 4);  // more often than it says when, or a late window would be waited for
    while (analyst.poll()) {
    }
    if (quarters % 4 == 2) ended_at_half.push_back(analyst.windows());
  }
  counting = true;
  stage->drain();
  counting = false;
  EXPECT_EQ(allocations, 0u);
  stage->finish(front.link());
  while (analyst.poll()) {
  }
  for (std::size_t i = 0; i < ended_at_half.size(); ++i) EXPECT_EQ(ended_at_half[i], i) << "half of window " << i;
  EXPECT_EQ(analyst.windows(), kWindows);
  EXPECT_TRUE(analyst.balanced());
  EXPECT_EQ(given, kWindows * kWindowPackets);
  const StageCounts counts = stage->counts();
  EXPECT_EQ(counts[Counter::arrived], given);
  EXPECT_EQ(counts[Counter::live_flow_packets] + counts[Counter::ended_record_packets], given);
  const std::vector<StatePackets> by_state = stage->state_packets();
  std::uint64_t all = 0;
  for (std::size_t state = 0; state < by_state.size(); ++state) {
    all += by_state[state].all;
    EXPECT_GT(by_state[state].all, 0u) << file.plan.names[state];
    EXPECT_EQ(by_state[state].kept, by_state[state].all) << "no flow is reduced";
  }
  EXPECT_EQ(all, given);
}

}  // namespace
}  // namespace parshall
