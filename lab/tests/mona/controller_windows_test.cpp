// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "lab/rivals/mona/controller.hpp"
#include "lab/tests/mona/graphs.hpp"
#include "lab/tests/mona/packet_time.hpp"

namespace parshall::lab {
namespace {

using Mode = Controller::Mode;

/// Windows handed in one by one, of flows that all have the heaviest base state.
struct Worker {
  Controller controller;
  std::vector<double> base = std::vector<double>(kCosts.size());
  std::vector<double> packets = base;

  explicit Worker(Controller::Options options = {.mode = Mode::adapt, .recovery = {}, .costs = {}})
      : controller(chain(kCosts), kTime, options) {}

  /// All of the load's packets are counted; what they take is `slowness` of what the profile says.
  Shift window(std::uint64_t offered, double slowness = 1, WindowLoad load = {}) {
    base.back() = static_cast<double>(offered);
    double mean_ns = 0;
    PacketTime time = kTime;
    if (load.hit_probability && std::isfinite(*load.hit_probability))
      time.hit_probability = std::clamp(*load.hit_probability, 0.0, 1.0);
    for (std::uint8_t state = 0; state < kCosts.size(); ++state) {
      const double share = controller.allocation().share(4, state);
      packets[state] = share * base.back();
      mean_ns += share * time.total_ns(kCosts[state]);
    }
    load.window_ns = kMonaWindowNs;
    load.busy_ns = slowness * mean_ns * base.back();
    load.offered = load.counted = offered;
    load.base_packets = base;
    load.packets = packets;
    controller.end_window(load, {});
    return controller.shift();
  }
};

TEST(Controller, OfARiseThatGoesOnTheNextWindowsEndIsWhatThereMustBeTimeFor) {
  Worker steady, rising, falling;
  for (int i = 0; i < 5; ++i) steady.window(70'000), rising.window(50'000), falling.window(80'000);
  rising.window(60'000), falling.window(70'000);
  const Shift now = steady.window(70'000);
  EXPECT_NEAR(now.share, (250 - 0.95 * 1e7 / 70'000) / 50 - 2, 1e-9) << "250 ns, steps of 50";
  EXPECT_EQ(now.steps, 3u);
  // 6 Mpps after 5 are 7.5 a window and a half later.
  const Shift later = rising.controller.shift();
  EXPECT_EQ(later.steps, 3u);
  EXPECT_NEAR(later.share, (250 - 0.95 * 1e7 / 75'000) / 50 - 2, 1e-9);
  EXPECT_EQ(falling.controller.shift(), now) << "a fall need not go on";
  rising.window(60'000);
  EXPECT_NEAR(rising.controller.shift().share, (250 - 0.95 * 1e7 / 60'000) / 50 - 1, 1e-9) << "it rises no more";
}

/// Learnt alone, the heavier of the two in use would be the cheaper one.
TEST(Controller, WhereLearntCostsAreOrderedTheMixInUseCostsWhatItDid) {
  Controller controller(chain(kCosts), kTime, {.mode = Mode::adapt, .recovery = {}, .costs = {}});
  const std::vector<double> mix{0, 0, 0, 4000, 6000};
  for (int i = 0; i < 10; ++i)
    controller.end_window({.window_ns = kMonaWindowNs,
                           .busy_ns = 10'000 * 60.0,
                           .offered = 10'000,
                           .counted = 10'000,
                           .base_packets = mix,
                           .packets = mix},
                          {});
  EXPECT_GT(controller.costs().cost_ns(3), controller.costs().cost_ns(4));
  EXPECT_LT(controller.all_in()[3].cost_ns, controller.all_in()[4].cost_ns);
  EXPECT_NEAR(controller.all_in().mean_cost_ns(mix), 60, 0.1);
}

TEST(Controller, AMeasurementBeyondTenTimesIsTakenForTen) {
  Worker worker;
  worker.window(2000, 15);
  EXPECT_NEAR(worker.controller.residual(), 0.3 * 0.75 * 9, 1e-9) << "0.75 busy";
}

TEST(Controller, AFewPacketsTeachNextToNothing) {
  Worker worker;
  for (int i = 0; i < 20; ++i) worker.window(38'000);
  for (int i = 0; i < 20; ++i) worker.window(20, 3);
  EXPECT_NEAR(worker.controller.residual(), 0, 1e-9);
  for (int i = 0; i < 10; ++i) worker.window(500, 3);
  EXPECT_NEAR(worker.controller.residual(), 0, 0.3) << "each 4 % busy";
  Worker other;
  for (int i = 0; i < 20; ++i) other.window(38'000, 1.05);
  EXPECT_NEAR(other.controller.residual(), 0.05, 0.001);
  EXPECT_GT(other.controller.shift().steps, 0u) << "there is no time for that any more";
}

TEST(Controller, TheHitProbabilityCountsAndOnlyWhereItIsOne) {
  const auto after = [](std::optional<double> hits) {
    Worker worker;
    for (int i = 0; i < 20; ++i) worker.window(70'000, 1, {.hit_probability = kTime.hit_probability});
    worker.window(0);  // time goes by, nothing is learnt
    worker.window(70'000, 1, {.hit_probability = hits});
    return worker.controller.all_in()[4].cost_ns;
  };
  const double before = after(std::nullopt);
  EXPECT_NEAR(before, kTime.total_ns(200), 0.01);
  EXPECT_NEAR(after(0.0), before + 40, 1) << "50 ns more for 0.8 of packets";
  EXPECT_NEAR(after(-7), after(0.0), 1e-9);
  EXPECT_NEAR(after(7), after(1.0), 1e-9);
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_NEAR(after(bad), before, 1e-9) << bad;
}

TEST(Controller, AUtilisationThatCannotBeIsBounded) {
  const auto shift = [](double utilisation) {
    Worker worker({.mode = Mode::adapt, .utilisation = utilisation, .recovery = {}, .costs = {}});
    worker.window(38'500);
    return worker.window(38'500);
  };
  EXPECT_EQ(shift(std::nan("")), shift(0.95));
  EXPECT_EQ(shift(7), shift(1));
  EXPECT_EQ(shift(1), Shift());
  EXPECT_NE(shift(0.95), Shift());
  for (const double none : {0.0, -1.0}) EXPECT_EQ(shift(none), shift(Controller::kLeastUtilisation));
}

/// A flow of half of all packets that is not reduced. By the share of reduced flows, less time would be expected.
TEST(Controller, TheWeightOfHeavyFlowsIsRememberedThroughALull) {
  Worker worker;
  const auto window = [&](std::uint64_t offered) {
    auto& controller = worker.controller;
    worker.base.back() = static_cast<double>(offered);
    double mean_ns = 0;
    for (std::uint8_t state = 0; state < 5; ++state) {
      const double others = controller.allocation().share(4, state);
      const double share = 0.5 * others + 0.5 * (controller.allocation().state_of(4, ~0u) == state);
      worker.packets[state] = share * worker.base.back();
      mean_ns += share * kTime.total_ns(kCosts[state]);
    }
    const double busy_ns = std::min(kMonaWindowNs, mean_ns * worker.base.back());
    controller.end_window({.window_ns = kMonaWindowNs,
                           .busy_ns = busy_ns,
                           .offered = offered,
                           .counted = static_cast<std::uint64_t>(busy_ns / mean_ns),
                           .base_packets = worker.base,
                           .packets = worker.packets},
                          {});
    return mean_ns * static_cast<double>(offered) / kMonaWindowNs;
  };
  const auto after_a_lull = [&] {
    for (int i = 0; i < 30; ++i) window(20'000);
    EXPECT_EQ(worker.controller.shift(), Shift());
    for (int i = 0; i < 2; ++i) window(47'000);
    return static_cast<double>(worker.controller.shift().steps) + worker.controller.shift().share;
  };
  const double at_first = after_a_lull();
  double used = 0;
  for (int i = 0; i < 200; ++i) used = window(47'000);
  EXPECT_LT(used, 1);
  EXPECT_GT(after_a_lull(), at_first + 0.05);
}

TEST(Controller, HostileWindowsLeaveItAsItWasAndShortSpansAreNotReadPastTheirEnd) {
  for (const Mode mode : {Mode::adapt, Mode::recover}) {
    Worker worker({.mode = mode, .recovery = {}, .costs = {}});
    for (int i = 0; i < 10; ++i) worker.window(70'000);
    const Allocation before = worker.controller.allocation();
    for (const double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
      worker.controller.end_window({.window_ns = bad, .busy_ns = 1, .offered = 1'000'000, .counted = 9}, {});
      EXPECT_EQ(worker.controller.allocation(), before) << bad;
    }
    for (const double bad : {std::nan(""), 1e300, -1e300, std::numeric_limits<double>::infinity()}) {
      WindowLoad load{.window_ns = kMonaWindowNs, .busy_ns = bad, .offered = 70'000, .counted = 70'000};
      load.base_packets = load.packets = worker.base;
      worker.controller.end_window(load, {});
      EXPECT_EQ(worker.controller.allocation(), before) << bad;
    }
    const std::vector<double> few{1e4, 2e4};
    const GapRecovery::Task tasks[] = {{3, 0.7, 0.5}, {~3ull, 0.7, 0.9}};
    worker.controller.end_window({.window_ns = kMonaWindowNs,
                                  .busy_ns = 9e6,
                                  .offered = 30'000,
                                  .counted = 30'000,
                                  .base_packets = few,
                                  .packets = few},
                                 tasks);
    worker.controller.end_window({.window_ns = kMonaWindowNs, .busy_ns = 9e6, .offered = 30'000, .counted = 30'000},
                                 {});
    EXPECT_TRUE(std::isfinite(worker.controller.residual()));
  }
}

TEST(Controller, SparesTasksThatAreBelowTheirThresholdOnlyWhereItIsAsked) {
  const StateGraph graph = *StateGraph::make({{"count", 0, 0}, {"s1", 0, 100}, {"s2", 0, 100}});
  const std::vector<double> base{0, 50'000, 50'000};
  const GapRecovery::Task tasks[] = {{2, 0.75, 0.99}, {4, 0.75, 0.4}};
  for (const Mode mode : {Mode::adapt, Mode::recover}) {
    Controller controller(graph, kTime, {.mode = mode, .recovery = {}, .costs = {}});
    for (int window = 0; window < 20; ++window) {
      std::vector<double> packets(3);
      for (std::uint8_t from = 1; from < 3; ++from)
        for (std::uint8_t to = 0; to < 3; ++to) packets[to] += base[from] * controller.allocation().share(from, to);
      const double busy_ns = 1e5 * kTime.total_ns(graph.mean_cost_ns(packets));
      controller.end_window({.window_ns = kMonaWindowNs,
                             .busy_ns = busy_ns,
                             .offered = 100'000,
                             .counted = 100'000,
                             .base_packets = base,
                             .packets = packets},
                            tasks);
    }
    const double first = controller.allocation().share(1, 1), second = controller.allocation().share(2, 2);
    if (mode == Mode::adapt)
      EXPECT_DOUBLE_EQ(first, second);
    else
      EXPECT_GT(second, first + 0.2);
    EXPECT_NEAR((first + second) / 2, 0.45, 0.02) << "the time there is: 45 ns of 100";
    controller.end_window(
        {.window_ns = kMonaWindowNs, .offered = 10'000, .counted = 10'000, .base_packets = base, .packets = base},
        tasks);
    for (std::uint8_t state = 0; state < 3; ++state)
      EXPECT_EQ(controller.allocation().share(state, state), 1) << "there is time for all again";
  }
}

}  // namespace
}  // namespace parshall::lab
