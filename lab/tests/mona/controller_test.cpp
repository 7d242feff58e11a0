// SPDX-License-Identifier: Apache-2.0
// The loop closed: a queue of 4096 packets in front of a worker whose packets take the time their states take.
#include "lab/rivals/mona/controller.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "lab/tests/mona/graphs.hpp"

namespace parshall::lab {
namespace {

using Mode = Controller::Mode;

constexpr double kWindowNs = 10e6, kStepNs = 20e3, kQueue = 4096;
constexpr double kMostPps = 14.8e6;

/// 50 ns a packet without tasks, 250 with all: 20 and 4 Mpps.
const PacketTime kTime{.input_ns = 10, .new_flow_ns = 210, .cached_ns = 30, .uncached_ns = 80, .hit_probability = 0.8};
const std::vector<double> kCosts{0, 50, 100, 150, 200};

struct World {
  std::function<double(double)> rate_pps = [](double) { return 10e6; };  ///< by time in s
  std::function<double(double)> slowness = [](double) { return 1.0; };
  double new_flow_share = 0.01;
  double zipf = 0;                                     ///< exponent of flows' packets
  std::vector<double> given = kCosts, truth = kCosts;  ///< of the states' tasks
  std::size_t base_states = 1;                         ///< of flows, the heaviest ones
  double noise = 0;                                    ///< sd of a window's rate, of it
  double time_noise = 0;                               ///< and of what its packets take
};

struct Window {
  double offered = 0, lost = 0, busy_ns = 0, queued = 0;
  Shift shift;
  double residual = 0;
  double told_ns = 0, taken_ns = 0;  ///< of a mean packet of the mix in use

  double utilisation() const { return busy_ns / kWindowNs; }
  double steps() const { return static_cast<double>(shift.steps) - (shift.steps != 0 ? 1 - shift.share : 0); }
};

class Simulation {
 public:
  Simulation(Mode mode, World world)
      : world_(std::move(world)),
        truth_(chain(world_.truth)),
        controller_(chain(world_.given), kTime, {.mode = mode, .recovery = {}, .costs = {}}) {
    SplitMix64 random(11);
    double all = 0;
    for (std::size_t i = 0; i < kFlows; ++i) {
      flows_.push_back({static_cast<std::uint8_t>(truth_.size() - 1 - i % world_.base_states),
                        static_cast<std::uint32_t>(random()), std::pow(static_cast<double>(i + 1), -world_.zipf)});
      all += flows_.back().share;
    }
    for (Flow& flow : flows_) flow.share /= all;
  }

  std::vector<Window> run(std::size_t windows) {
    std::vector<Window> all;
    for (std::size_t i = 0; i < windows; ++i) all.push_back(window());
    return all;
  }

 private:
  static constexpr std::size_t kFlows = 3000;
  struct Flow {
    std::uint8_t base;
    std::uint32_t hash;
    double share;
  };

  Window window() {
    std::vector<double> base(truth_.size()), effective(truth_.size());
    for (const Flow& flow : flows_) {
      base[flow.base] += flow.share;
      effective[controller_.allocation().state_of(flow.base, flow.hash)] += flow.share;
    }
    PacketTime time = kTime;
    time.new_flow_share = world_.new_flow_share;
    const double tasks_ns = truth_.mean_cost_ns(effective);
    Window window;
    window.told_ns = controller_.all_in().mean_cost_ns(effective);
    window.taken_ns = time.total_ns(tasks_ns) * world_.slowness(now_ns_ / 1e9);
    const double part = 1 + world_.noise * normal(), slower = 1 + world_.time_noise * normal();
    double counted = 0;
    for (double at_ns = 0; at_ns < kWindowNs; at_ns += kStepNs, now_ns_ += kStepNs) {
      const double arrived = part * world_.rate_pps(now_ns_ / 1e9) * kStepNs / 1e9;
      const double packet_ns = slower * time.total_ns(tasks_ns) * world_.slowness(now_ns_ / 1e9);
      const double taken = std::min(queue_ + arrived, kStepNs / packet_ns);
      window.offered += arrived;
      window.busy_ns += taken * packet_ns;
      counted += taken;
      queue_ += arrived - taken;
      window.lost += std::max(0.0, queue_ - kQueue);
      queue_ = std::min(queue_, kQueue);
    }
    for (double& packets : base) packets *= counted;
    for (double& packets : effective) packets *= counted;
    controller_.end_window({.window_ns = kWindowNs,
                            .busy_ns = window.busy_ns,
                            .offered = static_cast<std::uint64_t>(window.offered),
                            .counted = static_cast<std::uint64_t>(counted),
                            .new_flows = static_cast<std::uint64_t>(counted * world_.new_flow_share),
                            .hit_probability = kTime.hit_probability,
                            .base_packets = base,
                            .packets = effective},
                           {});
    window.queued = queue_;
    window.shift = controller_.shift();
    window.residual = controller_.residual();
    return window;
  }

  double normal() {
    return std::sqrt(-2 * std::log(1 - random_.uniform())) * std::cos(2 * std::numbers::pi * random_.uniform());
  }

  World world_;
  StateGraph truth_;
  Controller controller_;
  SplitMix64 random_{12};
  std::vector<Flow> flows_;
  double now_ns_ = 0, queue_ = 0;
};

double lost_share(const std::vector<Window>& windows, std::size_t from = 0) {
  double lost = 0, offered = 0;
  for (std::size_t i = from; i < windows.size(); ++i) lost += windows[i].lost, offered += windows[i].offered;
  return lost / offered;
}

/// From none to 14.8 Mpps and back, a period each `s`.
std::function<double(double)> swings(double s) {
  return [s](double at) { return kMostPps / 2 * (1 - std::cos(2 * std::numbers::pi * at / s)); };
}

TEST(Controller, LosesNothingWhereTheRateSwingsIn250Milliseconds) {
  const auto adapted = Simulation(Mode::adapt, {.rate_pps = swings(0.25)}).run(1000);
  EXPECT_EQ(lost_share(adapted), 0);
  EXPECT_GT(lost_share(Simulation(Mode::none, {.rate_pps = swings(0.25)}).run(1000)), 0.4);
}

TEST(Controller, LosesOnlyWithinOneWindowOfARiseWhereItSwingsIn100Milliseconds) {
  const auto windows = Simulation(Mode::adapt, {.rate_pps = swings(0.1)}).run(1000);
  for (std::size_t i = 1; i < windows.size(); ++i) {
    if (windows[i].lost == 0) continue;
    EXPECT_GT(windows[i].offered, windows[i - 1].offered) << i;
    EXPECT_EQ(windows[i - 1].lost, 0) << i;
  }
  EXPECT_LT(lost_share(windows), 0.5 * lost_share(Simulation(Mode::none, {.rate_pps = swings(0.1)}).run(1000)));
}

TEST(Controller, UsesTheTimeThereIsAndDoesNotSwing) {
  for (const double zipf : {0.0, 1.0, 1.5})
    for (const double rate_pps : {5e6, 8e6, 12e6, 15e6}) {
      SCOPED_TRACE("Zipf " + std::to_string(zipf) + ", " + std::to_string(rate_pps) + " pps");
      const auto windows =
          Simulation(Mode::adapt, {.rate_pps = [=](double) { return rate_pps; }, .zipf = zipf}).run(300);
      EXPECT_LE(lost_share(windows, 20), zipf == 0 ? 0 : 0.02);
      double mean = 0;
      for (std::size_t i = 50; i < windows.size(); ++i) mean += windows[i].utilisation() / 250;
      EXPECT_GT(mean, 0.85);
      if (zipf != 0) continue;
      for (std::size_t i = 50; i < windows.size(); ++i) ASSERT_NEAR(windows[i].utilisation(), 0.95, 0.02) << i;
    }
}

TEST(Controller, MeasuresACoRunnerAndMakesUpForIt) {
  const auto windows = Simulation(Mode::adapt, {.rate_pps = [](double) { return 8e6; },
                                                .slowness = [](double s) { return s < 1 ? 1 : 1.5; }})
                           .run(200);
  for (std::size_t i = 0; i < windows.size(); ++i)
    EXPECT_TRUE(windows[i].lost == 0 || i < 2 || (i >= 100 && i < 102)) << i;
  EXPECT_NEAR(windows[99].residual, 0, 0.01);
  EXPECT_NEAR(windows.back().residual, 0.5, 0.01);
  EXPECT_GT(windows.back().steps(), windows[99].steps());
}

/// Rates under what all packets may take: 3.8 Mpps, 95 % of 1 / 251.4 ns.
TEST(Controller, NoiseJustUnderWhatThereIsTimeForShedsNextToNothing) {
  const double most_pps = 0.95e9 / 251.4;
  for (const auto& [part, noise] : {std::pair{0.985, 0.005}, {0.975, 0.01}, {0.95, 0.02}}) {
    SCOPED_TRACE(noise);
    const auto windows =
        Simulation(Mode::adapt, {.rate_pps = [rate_pps = part * most_pps](double) { return rate_pps; }, .noise = noise})
            .run(4000);
    double shed = 0, shedding = 0;
    for (std::size_t i = 50; i < windows.size(); ++i)
      shed += windows[i].steps() / 3950, shedding += windows[i].shift.steps != 0;
    EXPECT_LT(shed, 0.002) << "of the flows, on average";
    EXPECT_LT(shedding / 3950, 0.01);
    EXPECT_EQ(lost_share(windows), 0);
  }
}

TEST(Controller, NoiseOfWhatPacketsTakeShedsLittle) {
  const double most_pps = 0.95e9 / 251.4;
  for (const auto& [part, noise] : {std::pair{0.97, 0.01}, {0.95, 0.02}, {0.9, 0.04}}) {
    const auto windows = Simulation(Mode::adapt, {.rate_pps = [rate_pps = part * most_pps](double) { return rate_pps; },
                                                  .time_noise = noise})
                             .run(2000);
    double shed = 0;
    for (std::size_t i = 50; i < windows.size(); ++i) shed += windows[i].steps() / 1950;
    EXPECT_LT(shed, 0.005) << noise << ": of the flows, on average";
    EXPECT_EQ(lost_share(windows), 0);
  }
}

TEST(Controller, ARiseOutOfNoiseIsFollowedAtOnce) {
  for (const double noise : {0.0, 0.005, 0.02}) {
    const auto windows =
        Simulation(Mode::adapt,
                   {.rate_pps = [](double s) { return 3e6 + 0.3e6 * std::max(0.0, s - 1) * 100; }, .noise = noise})
            .run(110);
    EXPECT_EQ(lost_share(windows), 0) << noise << ": 0.3 Mpps more each window";
  }
}

std::vector<double> off_by_up_to(double factor, const std::vector<double>& given, SplitMix64& random) {
  std::vector<double> truth;
  for (const double cost : given) truth.push_back(cost * std::exp((2 * random.uniform() - 1) * std::log(factor)));
  std::ranges::sort(truth);
  for (std::size_t i = 1; i < truth.size(); ++i) truth[i] = std::max(truth[i], truth[i - 1] + 0.1);
  return truth;
}

/// Each state's cost is off by a third to three times, there is time for half of what tasks take. In every second world
/// the rate swings by a tenth, so that states come into use that never were; in some all takes 1.5 times as long from
/// the 80th window on.
TEST(Controller, LearnsWhatStatesCostAndThenNeitherLosesPacketsNorTime) {
  std::vector<double> many;
  for (int i = 0; i < 64; ++i) many.push_back(4 * i);
  SplitMix64 random(13);
  int slowed = 0, all_off = 0;
  for (int world = 0; world < 60; ++world)
    for (const auto& given : {kCosts, many})
      for (const std::size_t base_states : {std::size_t{1}, given.size()}) {
        SCOPED_TRACE(std::to_string(world) + ", " + std::to_string(given.size()) + ", " + std::to_string(base_states));
        const std::vector<double> truth = off_by_up_to(3, given, random);
        double mean_ns = 0;
        for (std::size_t i = truth.size() - base_states; i < truth.size(); ++i)
          mean_ns += truth[i] / static_cast<double>(base_states);
        const double least_ns = kTime.total_ns(truth[0]);
        const double rate_pps = 1e9 / (least_ns + 2 + 0.5 * (mean_ns - truth[0]));
        const double swing = world % 2 == 0 ? 0 : 0.1;
        const bool is_slowed = world % 3 == 0 && 1e9 / rate_pps > 1.8 * least_ns;
        slowed += is_slowed;
        const auto windows =
            Simulation(Mode::adapt, {.rate_pps = [=](double s) { return rate_pps * (1 + swing * std::sin(s * 6)); },
                                     .slowness = [=](double s) { return is_slowed && s > 0.79999 ? 1.5 : 1.0; },
                                     .given = given,
                                     .truth = truth,
                                     .base_states = base_states})
                .run(200);
        int off = 0;
        for (std::size_t i = 50; i < windows.size(); ++i) {
          if (is_slowed && i >= 80 && i < 85) continue;
          const double told = windows[i].told_ns / windows[i].taken_ns, used = windows[i].utilisation();
          ASSERT_NEAR(told, 1, swing == 0 ? 0.05 : 0.25) << i;
          ASSERT_TRUE(used > (swing == 0 ? 0.9 : 0.75) || windows[i].shift.steps == 0) << i << ": " << used;
          off += std::abs(told - 1) > 0.05 || used < 0.9 || windows[i].lost > 0;
        }
        all_off += off;
        EXPECT_LE(off, swing == 0 ? 0 : 3) << "windows of 150";
      }
  EXPECT_LE(all_off, 20) << "of 36,000 windows";
  EXPECT_GT(slowed, 20);
}

TEST(Controller, WhereThereIsTimeNothingGivesWayAndSoonAfterAnOverloadNothingDoes) {
  const auto windows =
      Simulation(Mode::adapt, {.rate_pps = [](double s) { return s < 0.5 || s > 1 ? 3e6 : 12e6; }}).run(150);
  for (std::size_t i = 0; i < windows.size(); ++i) EXPECT_EQ(windows[i].shift.steps != 0, i >= 50 && i < 100) << i;
}

TEST(Controller, SaysWhereEvenTheLightestStatesAreTooMuch) {
  const auto flood =
      Simulation(Mode::adapt, {.rate_pps = [](double) { return kMostPps; }, .new_flow_share = 0.9}).run(50);
  EXPECT_TRUE(flood.back().shift.infeasible);
  EXPECT_GT(flood.back().lost, 0);
  EXPECT_FALSE(Simulation(Mode::adapt, {.rate_pps = [](double) { return kMostPps; }}).run(50).back().shift.infeasible);
}

TEST(Controller, AWindowThatStoodStillChangesNothing) {
  const StateGraph graph = chain(kCosts);
  Controller controller(graph, kTime, {.mode = Mode::adapt, .recovery = {}, .costs = {}});
  const std::vector<double> packets{0, 0, 0, 0, 100'000}, none(5);
  for (int i = 0; i < 5; ++i)
    controller.end_window({.window_ns = kWindowNs,
                           .busy_ns = 0,
                           .offered = 120'000,
                           .counted = 100'000,
                           .base_packets = packets,
                           .packets = packets},
                          {});
  const Shift before = controller.shift();
  ASSERT_NE(before, Shift());
  controller.end_window({.window_ns = kWindowNs, .offered = 120'000, .base_packets = none, .packets = none}, {});
  EXPECT_EQ(controller.shift(), before);
  EXPECT_LT(controller.allocation().share(4, 4), 1);
  controller.end_window({.window_ns = kWindowNs, .base_packets = none, .packets = none}, {});
  EXPECT_EQ(controller.shift(), Shift()) << "without packets there is time";
}

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
    load.window_ns = kWindowNs;
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

TEST(RateForecast, BurstsThatComeAndGoAreNotTakenForNoise) {
  RateForecast forecast;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t packets = i % 2 == 0 ? 50'000 : 100'000;
    const double told_pps = forecast.add_window(packets, kWindowNs);
    ASSERT_TRUE(i == 0 || told_pps >= static_cast<double>(packets) * 100) << told_pps;
  }
}

/// Learnt alone, the heavier of the two in use would be the cheaper one.
TEST(Controller, WhereLearntCostsAreOrderedTheMixInUseCostsWhatItDid) {
  Controller controller(chain(kCosts), kTime, {.mode = Mode::adapt, .recovery = {}, .costs = {}});
  const std::vector<double> mix{0, 0, 0, 4000, 6000};
  for (int i = 0; i < 10; ++i)
    controller.end_window({.window_ns = kWindowNs,
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

/// A flow of half of all packets, which is among those that do not give way: shares of flows let expect less time.
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
    const double busy_ns = std::min(kWindowNs, mean_ns * worker.base.back());
    controller.end_window({.window_ns = kWindowNs,
                           .busy_ns = busy_ns,
                           .offered = offered,
                           .counted = static_cast<std::uint64_t>(busy_ns / mean_ns),
                           .base_packets = worker.base,
                           .packets = worker.packets},
                          {});
    return mean_ns * static_cast<double>(offered) / kWindowNs;
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
      WindowLoad load{.window_ns = kWindowNs, .busy_ns = bad, .offered = 70'000, .counted = 70'000};
      load.base_packets = load.packets = worker.base;
      worker.controller.end_window(load, {});
      EXPECT_EQ(worker.controller.allocation(), before) << bad;
    }
    const std::vector<double> few{1e4, 2e4};
    const GapRecovery::Task tasks[] = {{3, 0.7, 0.5}, {~3ull, 0.7, 0.9}};
    worker.controller.end_window({.window_ns = kWindowNs,
                                  .busy_ns = 9e6,
                                  .offered = 30'000,
                                  .counted = 30'000,
                                  .base_packets = few,
                                  .packets = few},
                                 tasks);
    worker.controller.end_window({.window_ns = kWindowNs, .busy_ns = 9e6, .offered = 30'000, .counted = 30'000}, {});
    EXPECT_TRUE(std::isfinite(worker.controller.residual()));
  }
}

TEST(Controller, WithoutAModeNothingEverGivesWay) {
  for (const Window& window : Simulation(Mode::none, {.rate_pps = [](double) { return kMostPps; }}).run(20))
    EXPECT_EQ(window.shift, Shift());
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
      controller.end_window({.window_ns = kWindowNs,
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
        {.window_ns = kWindowNs, .offered = 10'000, .counted = 10'000, .base_packets = base, .packets = base}, tasks);
    for (std::uint8_t state = 0; state < 3; ++state)
      EXPECT_EQ(controller.allocation().share(state, state), 1) << "there is time for all again";
  }
}

/// Packets of two states that cost 50 and 250 ns, by weight: which of them have the lighter one, and what that takes.
class HeavyWorld {
 public:
  HeavyWorld(Mode mode, std::array<double, 8> packets, std::array<double, 8> heavy_share)
      : packets_(packets),
        controller_(chain({0, 200}), kTime, {.mode = mode, .recovery = {}, .costs = {}}),
        task_{.states = 2, .threshold = 0.75, .recall = 0.8, .heavy_share = heavy_share} {}

  void run(int windows, double rate_pps) {
    for (int i = 0; i < windows; ++i) window(rate_pps);
  }
  std::uint8_t heavy_from() const { return controller_.heavy_from(); }
  const Controller& controller() const { return controller_; }
  double utilisation() const { return busy_ns_ / kWindowNs; }
  double share_kept() const { return kept_; }  ///< of the packets that are not heavy

 private:
  void window(double rate_pps) {
    const double packets = rate_pps * kWindowNs / 1e9;
    const double stays = controller_.allocation().share(1, 1);
    std::vector<double> weighed(16), base(2), effective(2);
    for (std::size_t weight = 0; weight < 8; ++weight) {
      const double some = packets * packets_[weight];
      weighed[8 + weight] = some;
      base[1] += some;
      const double kept = weight >= controller_.heavy_from() ? 0 : stays;
      effective[1] += some * kept;
      effective[0] += some * (1 - kept);
    }
    busy_ns_ = effective[0] * kTime.total_ns(0) + effective[1] * kTime.total_ns(200);
    const double counted = packets * std::min(1.0, kWindowNs / busy_ns_);
    kept_ = stays;
    controller_.end_window({.window_ns = kWindowNs,
                            .busy_ns = std::min(busy_ns_, kWindowNs),
                            .offered = static_cast<std::uint64_t>(packets),
                            .counted = static_cast<std::uint64_t>(counted),
                            .missed = static_cast<std::uint64_t>(packets - counted),
                            .hit_probability = kTime.hit_probability,
                            .base_packets = base,
                            .packets = effective,
                            .weighed_packets = weighed},
                           {&task_, 1});
  }

  std::array<double, 8> packets_;
  Controller controller_;
  GapRecovery::Task task_;
  double busy_ns_ = 0, kept_ = 1;
};

constexpr std::array<double, 8> kZipfLike{0.25, 0.1, 0.1, 0.05, 0.05, 0.05, 0.1, 0.3};

TEST(HeavyFlows, GoFirstWhereTheyBringFewEventsForTheirPackets) {
  HeavyWorld world(Mode::recover, kZipfLike, {1, 0.9, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05});
  world.run(100, 3e6);
  EXPECT_EQ(world.heavy_from(), FlowWeight::kClasses) << "there is time for all";
  world.run(100, 4.6e6);
  EXPECT_EQ(world.heavy_from(), 7) << "a third of the packets, a twentieth of the events";
  EXPECT_EQ(world.controller().shift().steps, 0u) << "that is enough";
  world.run(100, 6.6e6);
  EXPECT_LT(world.heavy_from(), 7);
  EXPECT_GT(world.heavy_from(), 4);
  EXPECT_GT(world.share_kept(), 0.75);
  EXPECT_NEAR(world.utilisation(), 0.95, 0.05);
  world.run(100, 3e6);
  EXPECT_EQ(world.heavy_from(), FlowWeight::kClasses) << "they come back";
  EXPECT_EQ(world.share_kept(), 1);
}

TEST(HeavyFlows, StayWhereNothingIsKnownOfTheirEventsOrNobodyAsks) {
  std::array<double, 8> unknown;
  unknown.fill(1);
  HeavyWorld all(Mode::recover, kZipfLike, unknown);
  all.run(100, 6.6e6);
  EXPECT_EQ(all.heavy_from(), FlowWeight::kClasses);
  EXPECT_LT(all.share_kept(), 0.6);
  EXPECT_NEAR(all.utilisation(), 0.95, 0.02);
  HeavyWorld adapted(Mode::adapt, kZipfLike, {1, 0, 0, 0, 0, 0, 0, 0});
  adapted.run(100, 6.6e6);
  EXPECT_EQ(adapted.heavy_from(), FlowWeight::kClasses) << "the paper's way";
}

TEST(HeavyFlows, AreNotAllThrownOutWhereThereAreNoOthers) {
  std::array<double, 8> shares;
  shares.fill(1);
  HeavyWorld world(Mode::recover, {0, 0, 0, 0, 0, 0, 0, 1}, shares);
  world.run(100, 6.6e6);
  EXPECT_EQ(world.heavy_from(), FlowWeight::kClasses);
  EXPECT_GT(world.share_kept(), 0.3);
  EXPECT_NEAR(world.utilisation(), 0.95, 0.02);
}

}  // namespace
}  // namespace parshall::lab
