// SPDX-License-Identifier: Apache-2.0
#include "lab/rivals/mona/state_costs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "lab/tests/mona/graphs.hpp"

namespace parshall::lab {
namespace {

constexpr double kCostWindowNs = 10e6;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// A window of this mix, busy for a part of its time, in which packets take what `truth` says.
StateCosts::Window window_of(const std::vector<double>& shares, const std::vector<double>& truth, double busy = 0.9,
                             double noise = 1) {
  return {kCostWindowNs, busy * kCostWindowNs, busy * kCostWindowNs / (dot(shares, truth) * noise), shares};
}

std::vector<double> any_shares(SplitMix64& random, std::size_t states) {
  std::vector<double> shares = any_packets(random, states);
  double all = 0;
  for (const double share : shares) all += share;
  for (double& share : shares) share /= all;
  return shares;
}

TEST(StateCosts, HowAMeanIsMadeUpComesBackToWhatWasGivenWhereNothingTells) {
  const std::vector<double> given{50, 250};
  StateCosts costs(given);
  // At first something else made them dear: it all goes to the state that most packets are in, and more than it takes.
  for (int window = 0; window < 30; ++window) ASSERT_TRUE(costs.add_window(window_of({0.1, 0.9}, {50, 1250})));
  for (int window = 0; window < 30; ++window) ASSERT_TRUE(costs.add_window(window_of({0.8, 0.2}, {50, 250})));
  for (int window = 0; window < 600; ++window) ASSERT_TRUE(costs.add_window(window_of({0.7, 0.3}, {100, 500})));
  EXPECT_NEAR(costs.cost_ns(0), 100, 10);
  EXPECT_NEAR(costs.cost_ns(1), 500, 25);
  EXPECT_NEAR(0.7 * costs.cost_ns(0) + 0.3 * costs.cost_ns(1), 220, 0.5) << "the mean is known";
}

TEST(StateCosts, TwoStatesInUseAreLearntAndTheMixesOfThemTold) {
  SplitMix64 random(1);
  for (int world = 0; world < 200; ++world) {
    const std::vector<double> given{60, 110, 160, 210, 260};
    std::vector<double> truth = given;
    for (double& cost : truth) cost *= std::exp((2 * random.uniform() - 1) * std::log(3));
    StateCosts costs(given);
    for (int window = 0; window < 50; ++window) {
      const double share = 0.2 + 0.6 * random.uniform(), noise = 1 + 0.02 * (random.uniform() - 0.5);
      ASSERT_TRUE(costs.add_window(window_of({0, 0, share, 1 - share, 0}, truth, 0.9, noise)));
    }
    for (const double share : {0.2, 0.5, 0.8}) {
      const std::vector<double> mix{0, 0, share, 1 - share, 0};
      ASSERT_NEAR(costs.mean_cost_ns(mix) / dot(mix, truth), 1, 0.05);
    }
    ASSERT_NEAR(costs.residual(), 0, 0.05);
  }
}

TEST(StateCosts, WhereAllMixesComeUpEveryCostIsLearntWithinItsSd) {
  SplitMix64 random(2);
  double squares = 0, all = 0;
  for (int world = 0; world < 100; ++world) {
    std::vector<double> given, truth;
    for (int i = 0; i < 6; ++i) {
      given.push_back(50 + 40 * i);
      truth.push_back(given.back() * (0.5 + random.uniform()));
    }
    StateCosts costs(given);
    for (int window = 0; window < 400; ++window) {
      const double noise = 1 + 0.02 * std::sqrt(3) * (2 * random.uniform() - 1);
      costs.add_window(window_of(any_shares(random, 6), truth, 1, noise));
    }
    for (std::size_t i = 0; i < 6; ++i) {
      ASSERT_NEAR(costs.cost_ns(i) / truth[i], 1, 0.25);
      squares += std::pow((costs.cost_ns(i) - truth[i]) / costs.sd_ns(i), 2);
      ++all;
    }
  }
  EXPECT_GT(squares / all, 0.1) << "the sd is no more than three times what it is off by";
  EXPECT_LT(squares / all, 1.3);
}

TEST(StateCosts, ACoRunnerMakesAllDearerAndThoseThatAreNotInUseToo) {
  const std::vector<double> given{60, 110, 160}, mix{0, 0.5, 0.5};
  std::vector<double> truth = given;
  StateCosts costs(given);
  for (int window = 0; window < 100; ++window) costs.add_window(window_of(mix, truth));
  EXPECT_NEAR(costs.cost_ns(0), 60, 1e-9);
  for (double& cost : truth) cost *= 1.5;
  for (int window = 0; window < 5; ++window) costs.add_window(window_of(mix, truth));
  EXPECT_NEAR(costs.mean_cost_ns(mix) / dot(mix, truth), 1, 0.01);
  EXPECT_GT(costs.residual(), 0.03) << "it is an average over more windows";
  EXPECT_GT(costs.cost_ns(0), 60 * 1.03) << "never seen, but what the others have in common";
  EXPECT_LE(costs.cost_ns(0), 60 * 1.5);
  for (int window = 0; window < 100; ++window) costs.add_window(window_of(mix, truth));
  EXPECT_NEAR(costs.residual(), 0, 0.001);
}

TEST(StateCosts, WhatIsNotSeenIsNeverLessSureThanItWas) {
  SplitMix64 random(3);
  std::vector<double> given;
  for (int i = 0; i < 64; ++i) given.push_back(50 + 5 * i);
  StateCosts costs(given);
  for (std::size_t i = 0; i < 64; ++i) ASSERT_NEAR(costs.sd_ns(i), 0.5 * given[i], 1e-9) << "as given";
  std::vector<double> mix(64);
  for (int window = 0; window < 50'000; ++window) {
    std::ranges::fill(mix, 0.0);
    mix[20] = random.uniform(), mix[21] = 1 - mix[20];
    ASSERT_TRUE(costs.add_window(window_of(mix, given, 0.5, 1 + 0.02 * (random.uniform() - 0.5))));
    for (const std::size_t i : {0, 20, 21, 63}) {
      ASSERT_LE(costs.sd_ns(i), 0.5 * given[i] * (1 + 1e-9));
      ASSERT_GT(costs.sd_ns(i), 0);
    }
  }
  EXPECT_NEAR(costs.cost_ns(20) / given[20], 1, 0.05);
  EXPECT_LT(costs.sd_ns(20), 0.1 * given[20]);
  EXPECT_GT(costs.sd_ns(63), 0.3 * given[63]);
}

TEST(StateCosts, IdleWindowsAndNumbersThatCannotBeTeachNothing) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const std::vector<double> given{60, 110, 160}, mix{0, 0.5, 0.5};
  StateCosts costs(given);
  ASSERT_TRUE(costs.add_window({kCostWindowNs, 9e6, 50'000, mix}));
  const std::vector<double> before{costs.cost_ns(0), costs.cost_ns(1), costs.cost_ns(2)};
  const double sd = costs.sd_ns(1), residual = costs.residual();
  for (const double bad : {std::nan(""), 0.0, -1.0, kInf, -kInf, 1e300, 1e-300}) {
    EXPECT_FALSE(costs.add_window({bad, 9e6, 50'000, mix})) << bad;
    EXPECT_FALSE(costs.add_window({kCostWindowNs, bad, 50'000, mix})) << bad;
    EXPECT_FALSE(costs.add_window({kCostWindowNs, 9e6, bad, mix})) << bad;
    EXPECT_FALSE(costs.add_window({kCostWindowNs, 9e6, 50'000, std::vector<double>{0, bad, 0}})) << bad;
  }
  EXPECT_FALSE(costs.add_window({kCostWindowNs, 9e6, 50'000, std::vector<double>{0.5, 0.5}})) << "too few states";
  EXPECT_FALSE(costs.add_window({kCostWindowNs, 9e6, 50'000, std::vector<double>{0.5, -0.2, 0.7}}));
  EXPECT_FALSE(costs.add_window({kCostWindowNs, 9e6, 50'000, std::vector<double>{0, 1e-7, 0}})) << "of no packets";
  EXPECT_FALSE(costs.add_window({kCostWindowNs, 0.99e5, 700, mix})) << "less than a hundredth busy";
  EXPECT_FALSE(costs.add_window({kCostWindowNs, 1.1e5, 63, mix})) << "too few packets";
  EXPECT_FALSE(costs.add_window({kCostWindowNs, 2.1e7, 50'000, mix})) << "busy for longer than it lasted";
  EXPECT_FALSE(costs.add_window({kCostWindowNs, 9e6, 70, mix})) << "a thousand times as long as they should";
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(costs.cost_ns(i), before[i]);
  EXPECT_EQ(costs.sd_ns(1), sd);
  EXPECT_EQ(costs.residual(), residual);
  EXPECT_TRUE(costs.add_window({kCostWindowNs, 1.1e5, 700, mix}));
  EXPECT_TRUE(costs.add_window({kCostWindowNs, 1.1e5, 64, mix}));
  StateCosts odd(std::vector<double>{std::nan(""), kInf, -1, 1e300, 0, 100});
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(odd.cost_ns(i), 0) << "as nothing";
  const std::vector<double> free(6, 1 / 6.0);
  for (int window = 0; window < 50; ++window) odd.add_window({kCostWindowNs, 9e6, 90'000, free});
  EXPECT_NEAR(odd.mean_cost_ns(free), 100, 1) << "but learnt";
  EXPECT_GT(odd.cost_ns(4), 1) << "and not as what the others cost";
}

TEST(StateCosts, NoCostGoesBeyondTwentyTimesWhatWasGiven) {
  StateCosts dear(std::vector<double>{100}), cheap(std::vector<double>{1000});
  for (int window = 0; window < 20; ++window) {
    dear.add_window(window_of({1}, {9000}));
    cheap.add_window(window_of({1}, {3}));
  }
  EXPECT_EQ(dear.cost_ns(0), 2000);
  EXPECT_EQ(cheap.cost_ns(0), 50);
}

TEST(StateCosts, OneCostThatDriftsIsFollowedAndTheOtherStays) {
  SplitMix64 random(6);
  std::vector<double> truth{110, 260};
  StateCosts costs(truth);
  for (int window = 0; window < 600; ++window) {
    truth[0] *= window < 300 ? 1 : 1.0025;
    const double share = 0.2 + 0.6 * random.uniform();
    costs.add_window(window_of({share, 1 - share}, truth, 0.9, 1 + 0.02 * (random.uniform() - 0.5)));
  }
  EXPECT_NEAR(costs.cost_ns(0) / truth[0], 1, 0.06) << "it doubled";
  EXPECT_NEAR(costs.cost_ns(1) / truth[1], 1, 0.04);
}

TEST(StateCosts, AWindowTeachesByHowBusyItWas) {
  const std::vector<double> given{100}, mix{1};
  const auto after = [&](double busy) {
    StateCosts costs(given, {.prior_sd = 0.05});
    costs.add_window(window_of(mix, {200}, busy));
    return costs.cost_ns(0) - 100;
  };
  EXPECT_GT(after(1), 50);
  EXPECT_LT(after(0.011), 10);
  EXPECT_GT(after(0.5), after(0.1));
}

TEST(StateCosts, OneWindowIsWhatKalmansEquationsSay) {
  const std::vector<double> given{100, 200}, mix{0.5, 0.5};
  StateCosts costs(given, {.prior_sd = 0.5, .common_drift = 0, .own_drift = 0, .noise = 0.02});
  constexpr double kCounted = 60'000;
  ASSERT_TRUE(costs.add_window({kCostWindowNs, 180 * kCounted / 1.08, kCounted / 1.08, mix}));
  const double noise = 180 * 180 * (0.02 * 0.02 + 1.08 / kCounted);
  const double first = 0.5 * (2500 + 2250), second = 0.5 * (2250 + 10'000);  // covariance 0.9 * 2500
  const double s = 0.5 * (first + second) + noise, gain = 30 / s;
  EXPECT_NEAR(costs.cost_ns(0), 100 + first * gain, 1e-9);
  EXPECT_NEAR(costs.cost_ns(1), 200 + second * gain, 1e-9);
  EXPECT_NEAR(costs.sd_ns(0), std::sqrt(2500 - first * first / s), 1e-9);
  EXPECT_NEAR(costs.sd_ns(1), std::sqrt(10'000 - second * second / s), 1e-9);
  EXPECT_NEAR(costs.residual(), 0.1 * 0.2, 1e-9);
}

bool is_monotone(const StateGraph& graph, const std::vector<double>& costs) {
  for (std::uint8_t i = 0; i < graph.size(); ++i)
    if (graph.lighter(i) != i && costs[graph.lighter(i)] >= costs[i]) return false;
  return true;
}

TEST(MakeMonotone, WhateverIsLearntEveryLighterStateIsCheaper) {
  SplitMix64 random(4);
  for (int i = 0; i < 5000; ++i) {
    StateGraph graph = any_graph(random);
    std::vector<double> costs(graph.size()), sds(graph.size());
    for (double& cost : costs) cost = random.below(8) == 0 ? 0 : 300 * random.uniform();
    for (double& sd : sds) sd = random.below(4) == 0 ? 5 : 50 * random.uniform();
    const std::vector<double> learnt = costs;
    make_monotone(graph, sds, std::vector<double>(graph.size()), costs);
    ASSERT_TRUE(is_monotone(graph, costs));
    ASSERT_TRUE(graph.set_costs(costs));
    const auto surest = static_cast<std::size_t>(std::ranges::min_element(sds) - sds.begin());
    ASSERT_NEAR(costs[surest], learnt[surest], 1e-4 * learnt[surest] + 1e-4) << "the surest stays";
    ASSERT_TRUE(!is_monotone(graph, learnt) || std::abs(costs[0] - learnt[0]) < 1e-3);
    const auto [least, most] = std::ranges::minmax(learnt);
    for (const double cost : costs) ASSERT_TRUE(cost >= least && cost <= most * (1 + 1e-4) + 1e-4);
  }
}

TEST(MakeMonotone, CostsThatContradictNobodyStayAsTheyAre) {
  const StateGraph graph = chain({10, 20, 30, 40});
  std::vector<double> costs{1, 2, 3, 50};
  const std::vector<double> none(4);
  make_monotone(graph, std::vector<double>{1, 1, 1, 1}, none, costs);
  EXPECT_EQ(costs, (std::vector<double>{1, 2, 3, 50}));
  costs = {1, 60, 3, 50};
  make_monotone(graph, std::vector<double>{1, 9, 5, 1}, none, costs);
  EXPECT_EQ(costs[0], 1);
  EXPECT_EQ(costs[3], 50);
  EXPECT_NEAR(costs[1], 3, 1e-3) << "less sure than the heavier one";
  EXPECT_NEAR(costs[2], 3, 1e-3);
}

TEST(MakeMonotone, AMixInUseCostsWhatItDid) {
  SplitMix64 random(5);
  for (int i = 0; i < 5000; ++i) {
    const StateGraph graph = any_graph(random);
    std::vector<double> costs(graph.size()), sds(graph.size());
    for (double& cost : costs) cost = 10 + 300 * random.uniform();
    for (double& sd : sds) sd = 50 * random.uniform();
    const std::vector<double> mix = any_shares(random, graph.size());
    const double before = dot(mix, costs);
    make_monotone(graph, sds, mix, costs);
    ASSERT_TRUE(is_monotone(graph, costs));
    ASSERT_NEAR(dot(mix, costs), before, 1e-9 * before);
  }
}

}  // namespace
}  // namespace parshall::lab
