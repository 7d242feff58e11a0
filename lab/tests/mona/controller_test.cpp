// SPDX-License-Identifier: Apache-2.0
// The loop closed: a queue of 4096 packets in front of a worker whose packets take the time their states take.
#include "lab/rivals/mona/controller.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "lab/tests/mona/graphs.hpp"
#include "lab/tests/mona/packet_time.hpp"

namespace parshall::lab {
namespace {

using Mode = Controller::Mode;

constexpr double kStepNs = 20e3, kQueue = 4096;
constexpr double kMostPps = 14.8e6;

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

  double utilisation() const { return busy_ns / kMonaWindowNs; }
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
    for (double at_ns = 0; at_ns < kMonaWindowNs; at_ns += kStepNs, now_ns_ += kStepNs) {
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
    controller_.end_window({.window_ns = kMonaWindowNs,
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

TEST(Controller, NoFlowIsReducedIfThereIsTimeNorSoonAfterAnOverload) {
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
    controller.end_window({.window_ns = kMonaWindowNs,
                           .busy_ns = 0,
                           .offered = 120'000,
                           .counted = 100'000,
                           .base_packets = packets,
                           .packets = packets},
                          {});
  const Shift before = controller.shift();
  ASSERT_NE(before, Shift());
  controller.end_window({.window_ns = kMonaWindowNs, .offered = 120'000, .base_packets = none, .packets = none}, {});
  EXPECT_EQ(controller.shift(), before);
  EXPECT_LT(controller.allocation().share(4, 4), 1);
  controller.end_window({.window_ns = kMonaWindowNs, .base_packets = none, .packets = none}, {});
  EXPECT_EQ(controller.shift(), Shift()) << "without packets there is time";
}

TEST(Controller, WithoutAModeNoFlowIsEverReduced) {
  for (const Window& window : Simulation(Mode::none, {.rate_pps = [](double) { return kMostPps; }}).run(20))
    EXPECT_EQ(window.shift, Shift());
}

TEST(RateForecast, BurstsThatComeAndGoAreNotTakenForNoise) {
  RateForecast forecast;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t packets = i % 2 == 0 ? 50'000 : 100'000;
    const double told_pps = forecast.add_window(packets, kMonaWindowNs);
    ASSERT_TRUE(i == 0 || told_pps >= static_cast<double>(packets) * 100) << told_pps;
  }
}

}  // namespace
}  // namespace parshall::lab
