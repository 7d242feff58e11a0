// SPDX-License-Identifier: Apache-2.0
#include "control/adaptive_policy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "tests/control/given_traffic.hpp"

namespace parshall {
namespace {

/// A worker whose packets take what is done for them, times a factor that nobody told the policy.
struct AdaptingWorker {
  GivenTraffic of;
  double pps, factor;
  AdaptivePolicy policy{
      {.tasks = of.tasks.size(), .base_ns = 70, .part_ns = of.part_ns, .flow_parts = 1u << kRowsPart}};

  double step() {
    TaskChoice choice(of.tasks.size());
    choice.set(of.tasks, of.work());
    const double packet_ns = factor * choice.packet_ns(policy.plan());
    const double offered = pps * 0.01, counted = std::min(offered, 10e6 / packet_ns);
    std::vector<double> done;
    for (std::size_t part = 0; part < of.part_ns.size(); ++part)
      done.push_back(counted * choice.times(policy.plan(), part));
    policy.end_window({.window_ns = 10e6,
                       .busy_ns = counted * packet_ns,
                       .offered = static_cast<std::uint64_t>(offered),
                       .counted = static_cast<std::uint64_t>(counted),
                       .missed = static_cast<std::uint64_t>(offered - counted),
                       .packets = of.packets,
                       .done = done,
                       .flows_per_packet = of.work().flows_per_packet},
                      of.tasks);
    return 1 - counted / offered;
  }
};

TEST(AdaptivePolicy, LosesNothingAfterAFewWindowsWhateverPacketsTake) {
  SplitMix64 random(5);
  for (const double factor : {0.5, 1.0, 2.0}) {
    const GivenTraffic of = given(random, 3);
    TaskChoice choice(3);
    choice.set(of.tasks, of.work());
    const double most_pps = 1e9 / (factor * choice.all().packet_ns);
    AdaptingWorker worker{of, 1.3 * most_pps, factor};
    for (int window = 0; window < 10; ++window) worker.step();
    double lost = 0;
    for (int window = 0; window < 20; ++window) lost += worker.step() / 20;
    EXPECT_LT(lost, 0.003) << factor;
    EXPECT_TRUE(worker.policy.state().is_reduced);
    EXPECT_NEAR(worker.policy.state().factor, factor, 0.05 * factor);
    const double less = worker.policy.plan().shares[0].front();
    worker.pps = 0.9 * most_pps;
    worker.step();
    if (less < 0.5) {
      EXPECT_LT(worker.policy.plan().shares[0].front(), 1) << "flows come back by and by";
    }
    for (int window = 0; window < 5; ++window) worker.step();  // within 50 ms of the end of the overload
    EXPECT_FALSE(worker.policy.state().is_reduced) << factor;
  }
}

TEST(AdaptivePolicy, TellsWhichTasksItGaveUpAndWhereNoTimeIsEnough) {
  SplitMix64 random(6);
  const GivenTraffic of = given(random, 3);
  TaskChoice choice(3);
  choice.set(of.tasks, of.work());
  AdaptingWorker worker{of, 0.5e9 / choice.all().packet_ns, 1};
  for (int window = 0; window < 5; ++window) worker.step();
  EXPECT_EQ(worker.policy.state().given_up, 0u);
  EXPECT_TRUE(worker.policy.state().fits);
  worker.pps = 1e9 / 90;  // counting takes 70 of 90 ns
  for (int window = 0; window < 20; ++window) worker.step();
  EXPECT_NE(worker.policy.state().given_up, 0u);
  EXPECT_TRUE(worker.policy.state().fits);
  worker.pps = 1e9 / 50;
  for (int window = 0; window < 20; ++window) worker.step();
  EXPECT_EQ(worker.policy.state().given_up, 0b111u);
  EXPECT_FALSE(worker.policy.state().fits);
}

/// Within 50 ms, as soon as there is time.
TEST(AdaptivePolicy, FollowsAllFlowsSoonAfterFiveTimesTheLoadAndAtOnceWhenNothingComes) {
  SplitMix64 random(9);
  const GivenTraffic of = given(random, 3);
  TaskChoice choice(3);
  choice.set(of.tasks, of.work());
  const double most_pps = 1e9 / choice.all().packet_ns;
  for (const double later : {0.8, 0.0}) {
    AdaptingWorker worker{of, 5 * most_pps, 1};
    for (int window = 0; window < 30; ++window) worker.step();
    EXPECT_TRUE(worker.policy.state().is_reduced);
    EXPECT_FALSE(worker.policy.state().fits);
    worker.pps = std::max(1.0, later * most_pps);
    for (int window = 0; window < (later == 0 ? 1 : 5); ++window) worker.step();
    EXPECT_FALSE(worker.policy.state().is_reduced) << later;
    EXPECT_EQ(worker.policy.state().given_up, 0u);
    EXPECT_EQ(worker.policy.share(0, 0, 0), 1);
  }
}

/// A plan that fills the time is no reason to say that there is none.
TEST(AdaptivePolicy, SaysThatThereIsNoTimeOnlyWhereNoPlanFits) {
  SplitMix64 random(10);
  const GivenTraffic of = given(random, 3);
  TaskChoice choice(3);
  choice.set(of.tasks, of.work());
  AdaptingWorker worker{of, 1.3e9 / choice.all().packet_ns, 1};
  for (int window = 0; window < 100; ++window) {
    worker.factor = 1 + 0.02 * random.uniform();
    worker.step();
    EXPECT_TRUE(worker.policy.state().fits) << window;
  }
}

/// A task that finds no events has no recall to give up, so it follows all flows whatever the others do.
TEST(AdaptivePolicy, KeepsAllFlowsOfATaskThatFindsNoEvents) {
  SplitMix64 random(7);
  GivenTraffic of = given(random, 2);
  of.tasks[1].counts = 0;
  AdaptingWorker worker{of, 1e9 / 90, 1};
  for (int window = 0; window < 20; ++window) worker.step();
  for (std::size_t weight = 0; weight < kWeightsOfFlows; ++weight) EXPECT_EQ(worker.policy.share(1, 0, weight), 1);
  EXPECT_EQ(worker.policy.state().given_up & 0b10u, 0u);
}

TEST(AdaptivePolicy, WindowsThatCannotBeChangeNothing) {
  SplitMix64 random(8);
  const GivenTraffic of = given(random, 2);
  AdaptivePolicy policy({.tasks = 2, .base_ns = 70, .part_ns = of.part_ns, .flow_parts = 1u << kRowsPart});
  const std::vector<double> done(of.part_ns.size());
  for (const double window_ns : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_FALSE(policy.end_window({.window_ns = window_ns, .offered = 1'000'000, .packets = of.packets, .done = done},
                                   of.tasks));
  for (const double busy_ns : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    EXPECT_FALSE(policy.end_window({.window_ns = 1e7,
                                    .busy_ns = busy_ns,
                                    .offered = 1'000'000,
                                    .counted = 1'000'000,
                                    .packets = of.packets,
                                    .done = done},
                                   of.tasks));
  EXPECT_FALSE(policy.state().is_reduced);
}

}  // namespace
}  // namespace parshall
