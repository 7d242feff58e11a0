// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "lab/rivals/mona/controller.hpp"
#include "lab/tests/mona/graphs.hpp"
#include "lab/tests/mona/packet_time.hpp"

namespace parshall::lab {
namespace {

using Mode = Controller::Mode;

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
  double utilisation() const { return busy_ns_ / kMonaWindowNs; }
  double share_kept() const { return kept_; }  ///< of the packets that are not heavy

 private:
  void window(double rate_pps) {
    const double packets = rate_pps * kMonaWindowNs / 1e9;
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
    const double counted = packets * std::min(1.0, kMonaWindowNs / busy_ns_);
    kept_ = stays;
    controller_.end_window({.window_ns = kMonaWindowNs,
                            .busy_ns = std::min(busy_ns_, kMonaWindowNs),
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
