// SPDX-License-Identifier: Apache-2.0
#include "lab/rivals/mona/adaptation.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <limits>

#include "lab/rivals/mona/packet_time.hpp"
#include "lab/tests/mona/graphs.hpp"

namespace parshall::lab {
namespace {

using ::testing::HasSubstr;

std::string refused(std::vector<StateGraph::State> states) {
  const auto graph = StateGraph::make(std::move(states));
  return graph ? "" : graph.error().message;
}

TEST(StateGraph, RefusesWhatWouldNotGetLighter) {
  EXPECT_THAT(refused({{"a", 0, 10}, {"b", 0, 10}}), HasSubstr("b costs 10.0 ns a packet, and its lighter state a"));
  EXPECT_THAT(refused({{"a", 1, 10}, {"b", 0, 20}}), HasSubstr("a costs 10.0 ns")) << "a cycle";
  EXPECT_THAT(refused({{"a", 2, 10}}), HasSubstr("number 2 of 1"));
  EXPECT_THAT(refused({{"a", 0, -1}}), HasSubstr("0 or more"));
  EXPECT_THAT(refused({{"a", 0, std::nan("")}}), HasSubstr("0 or more"));
  EXPECT_THAT(refused({}), HasSubstr("1 to 64"));
  EXPECT_EQ(chain({1, 2, 3, 4}).depth(), 3u);
}

TEST(StateGraph, SaysWhereStatesComeToInSoManySteps) {
  SplitMix64 random(8);
  for (int i = 0; i < 200; ++i) {
    const StateGraph graph = any_graph(random);
    for (std::uint8_t state = 0; state < graph.size(); ++state) {
      std::uint8_t at = state;
      for (std::size_t steps = 0; steps < graph.depth() + 3; ++steps, at = graph.lighter(at))
        ASSERT_EQ(graph.after(steps)[state], at);
      ASSERT_EQ(graph.lighter(graph.after(graph.depth())[state]), graph.after(graph.depth())[state]);
    }
  }
}

TEST(StateGraph, TakesNewCostsOnlyIfEveryLighterStateStaysCheaper) {
  StateGraph graph = chain({10, 20, 30});
  const auto set = [&](std::vector<double> costs) { return graph.set_costs(costs); };
  EXPECT_TRUE(set({1, 2, 50}));
  EXPECT_EQ(graph[2].cost_ns, 50);
  EXPECT_EQ(graph.mean_cost_ns(std::vector<double>{0, 0, 1}), 50);
  for (const auto& costs : std::vector<std::vector<double>>{{1, 2},
                                                            {1, 2, 3, 4},
                                                            {1, 3, 3},
                                                            {2, 1, 3},
                                                            {-1, 2, 3},
                                                            {1, 2, std::nan("")},
                                                            {1, std::nan(""), 3},
                                                            {1, 2, std::numeric_limits<double>::infinity()}}) {
    EXPECT_FALSE(set(costs));
    EXPECT_EQ(graph.mean_cost_ns(std::vector<double>{1, 1, 1}), 53.0 / 3) << "as before";
  }
}

TEST(PacketTime, TheTargetIsWhatFillsTheTimeThereIs) {
  SplitMix64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const PacketTime time{.input_ns = 20 * random.uniform(),
                          .new_flow_ns = 300 * random.uniform(),
                          .cached_ns = 100 * random.uniform(),
                          .uncached_ns = 100 + 200 * random.uniform(),
                          .new_flow_share = 0.999 * random.uniform(),
                          .hit_probability = random.uniform()};
    const double rate_pps = 1e5 + 2e7 * random.uniform();
    const auto target_ns = time.processing_target_ns(rate_pps);
    ASSERT_TRUE(target_ns);
    ASSERT_NEAR(time.total_ns(*target_ns) * rate_pps / 1e9, 1, 1e-12);
  }
}

TEST(PacketTime, WithoutPacketsOrTasksAnyTimeWillDo) {
  PacketTime time{.new_flow_ns = 210, .cached_ns = 90, .uncached_ns = 200};
  EXPECT_FALSE(time.processing_target_ns(0));
  time.new_flow_share = 1;
  EXPECT_FALSE(time.processing_target_ns(1e6)) << "new flows take less than there is";
  EXPECT_LT(*time.processing_target_ns(10e6), 0) << "they take 210 of 100 ns";
  time.new_flow_share = 0;
  EXPECT_NEAR(*time.processing_target_ns(1e9 / 150), 60, 1e-9);
  EXPECT_NEAR(*time.processing_target_ns(20e6), -40, 1e-9) << "not even finding the flow";
}

TEST(ShiftTo, GivesTheReferenceValues) {
  const StateGraph graph = chain({20, 60, 100, 150, 200});
  const std::vector<double> alike(5, 1000);
  const auto expect = [&](double target_ns, std::size_t steps, double share, bool infeasible = false) {
    const Shift shift = shift_to(graph, alike, target_ns);
    EXPECT_EQ(shift.steps, steps) << target_ns;
    EXPECT_NEAR(shift.share, share, 5e-5) << target_ns;
    EXPECT_EQ(shift.infeasible, infeasible) << target_ns;
  };
  expect(200, 0, 0);
  expect(106, 0, 0);
  expect(105, 1, 0.0278);
  expect(90, 1, 0.4444);
  expect(50, 2, 0.7692);
  expect(20, 4, 1);
  expect(19, 4, 1, true);
  expect(-1, 4, 1, true);
}

TEST(ShiftTo, WithoutPacketsNoFlowIsReduced) {
  const StateGraph graph = chain({20, 60});
  EXPECT_EQ(shift_to(graph, std::vector<double>{0, 0}, 1), Shift());
  EXPECT_TRUE(shift_to(graph, std::vector<double>{0, 0}, -1).infeasible);
}

TEST(ShiftTo, OfAShortSpanTheRestAreNoPackets) {
  const StateGraph graph = chain({20, 60, 100});
  const std::vector<double> packets{10, 20, 30};
  EXPECT_EQ(shift_to(graph, std::span(packets).first(2), 30), shift_to(graph, std::vector<double>{10, 20, 0}, 30));
  EXPECT_EQ(shift_to(graph, {}, 30), Shift());
  EXPECT_EQ(shift_to(graph, std::vector<double>{10, 0, 0}, 20 * (1 - 1e-13)), Shift()) << "met but for rounding";
  const Allocation allocation(graph);
  EXPECT_NEAR(allocation.mean_cost_ns(graph, std::span(packets).first(2)), (200 + 1200) / 30.0, 1e-12);
  EXPECT_NEAR(graph.mean_cost_ns(std::span(packets).first(2)), (200 + 1200) / 30.0, 1e-12);
  EXPECT_EQ(graph.mean_cost_ns({}), 0);
}

/// The sum of the same products in another order differs by rounding.
TEST(ShiftTo, ATargetOfWhatTheLightestStatesTakeIsMet) {
  SplitMix64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const StateGraph graph = any_graph(random);
    const std::vector<double> packets = any_packets(random, graph.size());
    double sum_ns = 0, all = 0;
    for (std::size_t s = graph.size(); s-- > 0;) {
      sum_ns += packets[s] * graph[graph.after(graph.depth())[s]].cost_ns;
      all += packets[s];
    }
    const double least_ns = sum_ns / all;
    const Shift shift = shift_to(graph, packets, least_ns);
    ASSERT_FALSE(shift.infeasible);
    ASSERT_TRUE(shift.share >= 0 && shift.share <= 1);
    ASSERT_TRUE(least_ns == 0 || shift_to(graph, packets, least_ns * (1 - 1e-11)).infeasible);
  }
}

double least_ns(const StateGraph& graph, std::span<const double> packets) {
  double cost_ns = 0, all = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    std::size_t at = i;
    while (graph[at].lighter != at) at = graph[at].lighter;
    cost_ns += packets[i] * graph[at].cost_ns;
    all += packets[i];
  }
  return cost_ns / all;
}

TEST(ShiftTo, MeetsEveryTargetThatCanBeMet) {
  SplitMix64 random(2);
  for (int i = 0; i < 20'000; ++i) {
    const StateGraph graph = any_graph(random);
    const std::vector<double> packets = any_packets(random, graph.size());
    const double most_ns = graph.mean_cost_ns(packets), floor_ns = least_ns(graph, packets);
    const double target_ns = 1.2 * most_ns * random.uniform();
    const Shift shift = shift_to(graph, packets, target_ns);
    Allocation allocation(graph);
    allocation.apply(graph, shift);
    const double cost_ns = allocation.mean_cost_ns(graph, packets);
    if (target_ns >= most_ns) {
      ASSERT_EQ(shift, Shift());
    } else {
      ASSERT_NEAR(cost_ns, std::max(target_ns, floor_ns), 1e-9 * most_ns + 1e-9);
    }
    ASSERT_EQ(shift.infeasible, target_ns < floor_ns - 1e-9) << target_ns << " of " << floor_ns;
    ASSERT_LE(shift.steps, graph.depth());
    ASSERT_TRUE(shift.share >= 0 && shift.share <= 1);
  }
}

TEST(ShiftTo, LessTimeNeverMakesAnyStateHeavier) {
  SplitMix64 random(3);
  for (int i = 0; i < 2000; ++i) {
    const StateGraph graph = any_graph(random);
    const std::vector<double> packets = any_packets(random, graph.size());
    double before = -1;
    for (double part = 1.1; part > -0.1; part -= 0.05) {
      const Shift shift = shift_to(graph, packets, part * graph.mean_cost_ns(packets));
      const double steps = static_cast<double>(shift.steps) - (shift.steps != 0 ? 1 - shift.share : 0);
      ASSERT_GE(steps, before - 1e-9);
      before = steps;
    }
  }
}

TEST(Allocation, OfManyFlowsTheSharesAreInEachState) {
  const StateGraph graph = chain({20, 60, 100, 150, 200});
  Allocation allocation(graph);
  allocation.apply(graph, {.steps = 2, .share = 0.3});
  std::array<double, 5> seen{};
  SplitMix64 random(4);
  constexpr int kFlows = 200'000;
  for (int i = 0; i < kFlows; ++i) ++seen[allocation.state_of(4, static_cast<std::uint32_t>(random()))];
  EXPECT_NEAR(seen[2] / kFlows, 0.3, 0.005);
  EXPECT_NEAR(seen[3] / kFlows, 0.7, 0.005);
  EXPECT_EQ(seen[2] + seen[3], kFlows);
  EXPECT_EQ(allocation.state_of(0, 5), 0) << "there is none lighter";
  allocation.move(4, 3, 0, 0.2);
  std::array<double, 5> now{};
  for (int i = 0; i < kFlows; ++i) ++now[allocation.state_of(4, static_cast<std::uint32_t>(random()))];
  EXPECT_NEAR(now[0] / kFlows, 0.2, 0.005);
  EXPECT_NEAR(now[2] / kFlows, 0.3, 0.005);
  EXPECT_NEAR(now[3] / kFlows, 0.5, 0.005);
}

TEST(Allocation, AtTheSameShiftEveryFlowStaysAndAtALittleMoreFewGo) {
  SplitMix64 random(5);
  for (int i = 0; i < 300; ++i) {
    const StateGraph graph = any_graph(random);
    Allocation before(graph), after(graph);
    const Shift shift{.steps = 1 + random.below(4), .share = 0.98 * random.uniform()};
    before.apply(graph, shift);
    after.apply(graph, shift);
    const auto base = static_cast<std::uint8_t>(random.below(graph.size()));
    for (int flow = 0; flow < 200; ++flow) {
      const auto hash = static_cast<std::uint32_t>(random());
      ASSERT_EQ(before.state_of(base, hash), after.state_of(base, hash));
    }
    after.apply(graph, {.steps = shift.steps, .share = shift.share + 0.02});
    int changed = 0;
    for (int flow = 0; flow < 2000; ++flow) {
      const auto hash = static_cast<std::uint32_t>(random());
      changed += before.state_of(base, hash) != after.state_of(base, hash);
    }
    ASSERT_LT(changed, 2000 * 0.05);
  }
}

TEST(Allocation, NoMoreMovesThanIsThereAndNothingIsLost) {
  const StateGraph graph = chain({20, 60, 100});
  Allocation allocation(graph);
  EXPECT_EQ(allocation.move(2, 2, 0, 0.25), 0.25);
  EXPECT_EQ(allocation.move(2, 2, 0, 2), 0.75);
  EXPECT_EQ(allocation.move(2, 2, 0, 0.1), 0);
  EXPECT_EQ(allocation.move(2, 0, 1, -0.1), 0);
  EXPECT_EQ(allocation.share(2, 0), 1);
  EXPECT_EQ(allocation.state_of(2, ~0u), 0);
  EXPECT_EQ(allocation.share(1, 1), 1) << "other base states have their own";
}

TEST(Allocation, ThePartThatIsGatheredComesFromAllOtherStatesAlike) {
  const StateGraph graph = chain({20, 60, 100, 150});
  Allocation allocation(graph);
  allocation.apply(graph, {.steps = 2, .share = 0.4});
  allocation.gather(3, 3, 0.25);
  EXPECT_DOUBLE_EQ(allocation.share(3, 1), 0.3);
  EXPECT_DOUBLE_EQ(allocation.share(3, 2), 0.45);
  EXPECT_DOUBLE_EQ(allocation.share(3, 3), 0.25);
  allocation.gather(3, 2, 2);
  EXPECT_EQ(allocation.share(3, 2), 1);
  EXPECT_EQ(allocation.share(3, 1), 0);
  for (const std::uint32_t hash : {0u, ~0u}) EXPECT_EQ(allocation.state_of(3, hash), 2);
  allocation.gather(3, 0, std::nan(""));
  allocation.gather(3, 0, -1);
  EXPECT_EQ(allocation.share(3, 2), 1);
}

TEST(Allocation, TheFlowsOfABaseStateHaveFourStatesAtMost) {
  const StateGraph graph = chain({20, 60, 100, 150, 200, 250});
  Allocation allocation(graph);
  for (std::uint8_t to = 0; to < 3; ++to) EXPECT_EQ(allocation.move(5, 5, to, 0.2), 0.2);
  EXPECT_EQ(allocation.move(5, 5, 3, 0.1), 0) << "that would be a fifth";
  allocation.gather(5, 3, 0.1);
  EXPECT_EQ(allocation.share(5, 3), 0);
  EXPECT_EQ(allocation.move(5, 5, 2, 0.1), 0.1);
  const double all = allocation.share(5, 2);
  EXPECT_EQ(allocation.move(5, 2, 4, 1), all) << "all of one make room";
  EXPECT_EQ(allocation.state_of(5, 0), 0);
  EXPECT_EQ(allocation.state_of(5, 0x4000'0000), 1);
  EXPECT_EQ(allocation.state_of(5, 0x8000'0000), 4);
  EXPECT_EQ(allocation.state_of(5, ~0u), 5);
  allocation.gather(5, 0, 1);
  EXPECT_EQ(allocation.state_of(5, ~0u), 0);
}

TEST(Allocation, LightStatesHaveTheLowHashesWhateverTheStatesNumbers) {
  const StateGraph graph = *StateGraph::make({{"heavy", 1, 30}, {"middle", 2, 20}, {"light", 2, 10}});
  Allocation allocation(graph);
  allocation.apply(graph, {.steps = 2, .share = 0.5});
  EXPECT_EQ(allocation.state_of(0, 0), 2);
  EXPECT_EQ(allocation.state_of(0, 0x7FFF'FFFF), 2);
  EXPECT_EQ(allocation.state_of(0, 0x8000'0000), 1);
  EXPECT_EQ(allocation.state_of(0, ~0u), 1);
  allocation.apply(graph, {.steps = 2, .share = 1});
  EXPECT_EQ(allocation.state_of(0, ~0u), 2) << "its base state has no flow left";
  allocation.apply(graph, {.steps = 2, .share = std::nan("")});
  EXPECT_EQ(allocation.state_of(0, 0), 1);
}

TEST(Allocation, ItsPartsAreWhatItsHashesAre) {
  const StateGraph graph = chain({20, 60, 100, 150, 200});
  Allocation allocation(graph);
  SplitMix64 random(4);
  for (int round = 0; round < 200; ++round) {
    allocation.apply(graph, {.steps = 1 + random.below(4), .share = random.uniform()});
    allocation.gather(4, 0, random.uniform() / 2);
    for (std::uint8_t base = 0; base < 5; ++base) {
      double begin = 0;
      allocation.each_part(base, [&](std::uint8_t state, double share) {
        ASSERT_GT(share, 0);
        EXPECT_NEAR(share, allocation.share(base, state), 1e-9);
        EXPECT_EQ(allocation.state_of(base, static_cast<std::uint32_t>((begin + share / 2) * 0x1p32)), state);
        begin += share;
      });
      EXPECT_NEAR(begin, 1, 1e-12);
    }
  }
}

TEST(FewShiftTo, CostsWhatThereIsTimeForAndLeavesTheOthersInTheirStates) {
  SplitMix64 random(5);
  for (int round = 0; round < 500; ++round) {
    const StateGraph graph = chain({20, 60, 100, 150, 200});
    std::vector<double> packets(5);
    for (double& count : packets) count = random.uniform();
    const double own_ns = graph.mean_cost_ns(packets), target_ns = 15 + random.uniform() * 200;
    const Shift shift = few_shift_to(graph, packets, target_ns);
    Allocation allocation(graph);
    allocation.apply(graph, shift);
    if (target_ns >= own_ns) {
      EXPECT_EQ(shift, Shift());
    } else if (target_ns < 20) {
      EXPECT_TRUE(shift.infeasible);
      EXPECT_NEAR(allocation.mean_cost_ns(graph, packets), 20, 1e-9);
    } else {
      EXPECT_NEAR(allocation.mean_cost_ns(graph, packets), target_ns, 1e-6);
      EXPECT_NEAR(allocation.share(4, 4), 1 - shift.share, 1e-12);
      EXPECT_NEAR(allocation.share(4, 0), shift.share, 1e-12);
    }
  }
}

TEST(ShareStaying, IsOfThePacketsOfStatesThatATaskIsIn) {
  const StateGraph graph = chain({20, 60, 100, 150, 200});
  const std::vector<double> packets{5, 10, 20, 30, 40};
  const std::uint64_t upper = 0b11000, lowest = 1;
  EXPECT_EQ(share_staying(graph, {}, packets, upper), 1.0);
  EXPECT_NEAR(*share_staying(graph, {.steps = 1, .share = 0.25}, packets, upper), (40 + 30 * 0.75) / 70, 1e-12)
      << "state 4 goes to 3, which the task is in";
  EXPECT_NEAR(*share_staying(graph, {.steps = 2, .share = 0.25}, packets, upper), 40 * 0.75 / 70, 1e-12);
  EXPECT_NEAR(*share_staying(graph, {.steps = 4, .share = 0.25, .others_stay = true}, packets, upper), 0.75, 1e-12);
  EXPECT_EQ(share_staying(graph, {.steps = 4, .share = 1}, packets, lowest), 1.0);
  EXPECT_EQ(share_staying(graph, {.steps = 4, .share = 1}, std::vector<double>{1, 0}, upper), std::nullopt);
}

/// Adaptation goes by base states: the same load gives the same shift however it was shed before.
TEST(ShiftTo, AConstantOverloadDoesNotSwing) {
  SplitMix64 random(6);
  const StateGraph graph = chain({20, 60, 100, 150, 200});
  constexpr int kFlows = 20'000;
  std::vector<std::uint32_t> hashes(kFlows);
  for (std::uint32_t& hash : hashes) hash = static_cast<std::uint32_t>(random());
  Allocation allocation(graph);
  Shift last;
  for (int window = 0; window < 1000; ++window) {
    std::vector<double> base(graph.size());
    double cost_ns = 0;
    for (int flow = 0; flow < kFlows; ++flow) {
      const auto state = static_cast<std::uint8_t>(flow % 5);
      ++base[state];
      cost_ns += graph[allocation.state_of(state, hashes[static_cast<std::size_t>(flow)])].cost_ns / kFlows;
    }
    const Shift shift = shift_to(graph, base, 80);
    if (window > 0) {
      ASSERT_EQ(shift, last) << window;
      ASSERT_NEAR(cost_ns, 80, 1) << window;
    }
    allocation.apply(graph, last = shift);
  }
}

}  // namespace
}  // namespace parshall::lab
