// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "lab/overload/experiment.hpp"

namespace parshall::lab {
namespace {

constexpr OverloadSimulation::Length kShort{.warm_up_s = 0.3, .judged_s = 0.3};

const OverloadPolicyEntry& policy_named(std::string_view name) {
  return *std::ranges::find(overload_policies(), name, &OverloadPolicyEntry::name);
}

/// Outcomes of one cell and seed.
class Simulated {
 public:
  explicit Simulated(const OverloadCell& cell, std::uint64_t seed = 1)
      : Simulated(cell, seed, std::make_shared<const OverloadTraffic>(cell.graph, cell.flows, seed)) {}

  /// Shares the traffic: to draw it takes longer than to simulate 0.6 s of it.
  Simulated(const OverloadCell& cell, std::uint64_t seed, std::shared_ptr<const OverloadTraffic> traffic)
      : traffic_(std::move(traffic)), simulation_(*traffic_, cell, {}, kShort, seed) {}

  OverloadOutcome operator()(std::string_view policy) const { return simulation_.run(policy_named(policy)); }
  const OverloadSimulation& simulation() const noexcept { return simulation_; }

 private:
  std::shared_ptr<const OverloadTraffic> traffic_;
  OverloadSimulation simulation_;
};

const std::shared_ptr<const OverloadTraffic>& usual_traffic() {
  static const auto traffic = std::make_shared<const OverloadTraffic>(OverloadGraph::chain, OverloadCell().flows, 1);
  return traffic;
}

TEST(OverloadSimulation, WithTimeForAllLosesNothingAndFindsAll) {
  const Simulated simulated({.swings = false, .load = 0.6, .flows = 20'000});
  for (const std::string_view policy : {"off", "adapt"}) {
    const OverloadOutcome found = simulated(policy);
    EXPECT_EQ(found.lost_share, 0) << policy;
    EXPECT_EQ(OverloadOutcome::sum(found.by_flows), 4) << policy;
    EXPECT_EQ(OverloadOutcome::sum(found.by_count), 4) << policy;
  }
}

TEST(OverloadSimulation, SaysTheSameForTheSameSeedAndOtherThingsForAnother) {
  const OverloadCell cell{.swings = false, .load = 1.3, .flows = 20'000};
  const Simulated first(cell), second(cell), other(cell, 2);
  const OverloadOutcome once = first("adapt"), again = second("adapt");
  EXPECT_EQ(once.by_flows, again.by_flows);
  EXPECT_EQ(once.by_count, again.by_count);
  EXPECT_EQ(once.lost_share, again.lost_share);
  EXPECT_NE(first("off").lost_share, other("off").lost_share);
}

/// Without adaptation at least what there is no time for is lost, and more, since losses make packets dearer.
TEST(OverloadSimulation, LosesMoreThanWhatThereIsNoTimeFor) {
  constexpr double kLoad = 2;
  const OverloadCell cell{.swings = false, .load = kLoad, .noise = 0, .jitter = 0};
  const double lost = Simulated(cell, 1, usual_traffic())("off").lost_share;
  EXPECT_GT(lost, 1 - 1 / (0.95 * kLoad) + 0.05);
  EXPECT_LT(lost, 1 - 0.5 / kLoad);
}

TEST(OverloadSimulation, AdaptationSatisfiesMoreThanNoneAndNoMoreThanTheBoundAndLosesNextToNothing) {
  const Simulated simulated({.swings = false, .load = 1.6}, 1, usual_traffic());
  const OverloadOutcome none = simulated("off"), adapt = simulated("adapt");
  EXPECT_GT(none.lost_share, 0.2);
  EXPECT_LT(adapt.lost_share, 0.01);
  EXPECT_GT(OverloadOutcome::sum(adapt.by_flows), OverloadOutcome::sum(none.by_flows) + 1);
  EXPECT_GT(OverloadOutcome::sum(adapt.by_count), OverloadOutcome::sum(none.by_count) + 1);
  EXPECT_GE(simulated.simulation().bound(EventMeasure::flows), OverloadOutcome::sum(adapt.by_flows));
  EXPECT_GE(simulated.simulation().bound(EventMeasure::each), OverloadOutcome::sum(adapt.by_count));
  EXPECT_LT(simulated.simulation().bound(EventMeasure::flows), 4);
}

TEST(OverloadMonitor, TellsWhichEventsTheFollowedFlowsShow) {
  const OverloadTraffic traffic(OverloadGraph::chain, 4, 1);
  std::vector<FoundEvents> windows;
  const auto connection = [&](OverloadTraffic::Packet packet) {  // the flow whose state has all tasks, if there is any
    for (std::uint32_t flow = 0; flow < traffic.flows(); ++flow)
      if (traffic.tasks_of_state(traffic.state_of(flow)) == kAllTasks) {
        packet.flow = flow;
        return packet;
      }
    return packet;
  };
  ASSERT_EQ(traffic.tasks_of_state(traffic.state_of(connection({}).flow)), kAllTasks);
  OverloadMonitor monitor(traffic, {}, [&](std::size_t, const FoundEvents& found) { windows.push_back(found); });
  const FollowedFlows all;
  for (std::uint32_t segment = 1; segment <= 20; ++segment)
    monitor.take(connection({.ns = 1000 * segment, .segments = segment, .has_data = true}), all);
  monitor.take(connection({.ns = 30'000, .segments = 20, .has_data = true, .is_again = true}), all);
  monitor.end_window();
  const FollowedFlows nobody(0);
  monitor.take(connection({.ns = 40'000, .segments = 20, .has_data = true, .is_again = true}), nobody);
  monitor.end_window();
  ASSERT_EQ(windows.size(), 2u);
  const auto retransmissions = static_cast<std::size_t>(OverloadTask::retransmissions);
  for (const OverloadTask task : {OverloadTask::heavy_hitters, OverloadTask::retransmissions, OverloadTask::bursty}) {
    ASSERT_EQ(windows[0][static_cast<std::size_t>(task)].size(), 1u);
    EXPECT_EQ(windows[0][static_cast<std::size_t>(task)][0].count, 1);
  }
  EXPECT_TRUE(windows[0][static_cast<std::size_t>(OverloadTask::latency_change)].empty()) << "nobody acknowledged";
  EXPECT_TRUE(windows[1][retransmissions].empty());
  EXPECT_TRUE(windows[1][static_cast<std::size_t>(OverloadTask::heavy_hitters)].empty());
}

constexpr auto kRetransmissions = static_cast<std::size_t>(OverloadTask::retransmissions);
constexpr auto kBursty = static_cast<std::size_t>(OverloadTask::bursty);

/// Two classes that show half of the retransmissions each, for 100 and 300 ns, and a third with all bursts for 50 ns.
WindowWork three_classes(double free_ns) {
  WindowWork work{.free_ns = free_ns, .classes = std::vector<ClassInWindow>(3)};
  work.classes[0].tcp_ns = 100;
  work.classes[1].tcp_ns = 300;
  work.classes[2].gaps_ns = 50;
  for (auto measure : {EventMeasure::flows, EventMeasure::each}) {
    const auto m = static_cast<std::size_t>(measure);
    work.classes[0].events[m][kRetransmissions] = work.classes[1].events[m][kRetransmissions] = 4;
    work.classes[2].events[m][kBursty] = 7;
  }
  return work;
}

/// The cheapest three quarters of the retransmissions take 100 + 300 / 2 ns, those of the bursts 50 * 3 / 4.
TEST(OverloadBound, IsWhatTheCheapestClassesTake) {
  constexpr double kRetransmissionsNs = 250, kBurstyNs = 37.5, kNoQueue = 1e-9;
  const auto most = [&](double free_ns) {
    const std::vector<WindowWork> windows(3, three_classes(free_ns));
    return most_satisfied(windows, EventMeasure::flows, kNoQueue);
  };
  EXPECT_EQ(most(kBurstyNs - 2), 2) << "heavy hitters, and latency changes of which there are none";
  EXPECT_EQ(most(kBurstyNs + 1), 3);
  EXPECT_EQ(most(kRetransmissionsNs + kBurstyNs - 10), 3);
  EXPECT_EQ(most(kRetransmissionsNs + kBurstyNs + 1), 4);
  EXPECT_EQ(most(-1000), 1) << "there is no time even to count all packets";
}

TEST(OverloadBound, MovesWorkToTheNextWindowAsFarAsTheQueueReaches) {
  const std::vector<WindowWork> windows{three_classes(200), three_classes(500)};
  EXPECT_EQ(most_satisfied(windows, EventMeasure::each, 50), 3.5) << "of 287.5 ns 87.5 would have to wait";
  EXPECT_EQ(most_satisfied(windows, EventMeasure::each, 100), 4);
}

TEST(OverloadExperiment, ToleratesFiveHundredthsByCountAndATenthByFlows) {
  OverloadRow none{.policy = nullptr, .cell = {}}, row = none;
  none.mean.by_flows.fill(0.5);
  none.mean.by_count.fill(0.5);
  row = none;
  EXPECT_TRUE(is_no_worse(row, none));
  row.mean.by_count[0] -= 0.04;
  row.mean.by_flows[0] -= 0.09;
  EXPECT_TRUE(is_no_worse(row, none));
  row.mean.by_count[0] -= 0.02;
  EXPECT_FALSE(is_no_worse(row, none));
  row.mean.by_count[0] += 0.02;
  row.mean.by_flows[0] -= 0.02;
  EXPECT_FALSE(is_no_worse(row, none));
}

TEST(OverloadExperiment, QuickCellsAreTwelveOfAllCells) {
  EXPECT_EQ(overload_cells(true).size(), 12u);
  const auto all = overload_cells(false);
  for (const OverloadCell& quick : overload_cells(true))
    EXPECT_TRUE(std::ranges::any_of(all, [&](const OverloadCell& cell) {
      return cell.graph == quick.graph && cell.swings == quick.swings && cell.load == quick.load &&
             cell.noise == quick.noise && cell.jitter == quick.jitter && cell.flows == quick.flows &&
             cell.price_error == quick.price_error;
    }));
}

}  // namespace
}  // namespace parshall::lab
