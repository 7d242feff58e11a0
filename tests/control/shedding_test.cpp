// SPDX-License-Identifier: Apache-2.0
#include "control/shedding.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace parshall {
namespace {

constexpr double kLightestNs = 65;

/// A worker whose packets all take the same, but for those that it leaves.
class ShedWorld {
 public:
  /// Windows in which a packet comes each `gap_ns`; what is lost is what there was no time for.
  void pass(double gap_ns, int windows, double kept_weight = 1) {
    for (int i = 0; i < windows; ++i) {
      const double n = shedding_.one_in(), share = n == 1 ? 1 : std::min(1.0, kept_weight / n);
      const double packet_ns = share * kLightestNs + (1 - share) * Shedding::kShedNs;
      lost_share_ = std::max(0.0, 1 - gap_ns / packet_ns);
      const double polled = 1e6 * (1 - lost_share_);
      shedding_.end_window({gap_ns, kLightestNs, static_cast<std::uint64_t>(polled * share),
                            static_cast<std::uint64_t>(polled * (1 - share)),
                            static_cast<std::uint64_t>(1e6 * lost_share_)});
    }
  }
  std::uint32_t one_in() const { return shedding_.one_in(); }
  double lost_share() const { return lost_share_; }
  const Shedding& shedding() const { return shedding_; }

 private:
  Shedding shedding_;
  double lost_share_ = 0;
};

TEST(Shedding, NoneIsLeftWhereThereIsTime) {
  ShedWorld world;
  world.pass(65.1, 1000);
  EXPECT_EQ(world.one_in(), 1u);
  EXPECT_EQ(world.shedding().for_kept_ns(65.1), 65.1);
}

TEST(Shedding, LeavesTheFewestThatThereIsNoTimeFor) {
  for (const double gap_ns : {64.0, 50.0, 40.5, 40.0, 30.0, 20.0, 16.0}) {
    ShedWorld world;
    world.pass(gap_ns, 60);
    EXPECT_EQ(world.lost_share(), 0) << gap_ns;
    const auto taken = [](std::uint32_t n) { return kLightestNs / n + Shedding::kShedNs * (1 - 1.0 / n); };
    EXPECT_LE(taken(world.one_in()), gap_ns + 1e-9);
    EXPECT_GT(taken(world.one_in() - 1), gap_ns) << "fewer would do";
    EXPECT_GE(world.shedding().for_kept_ns(gap_ns), kLightestNs);
  }
}

TEST(Shedding, RisesToTwiceInFiveWindowsAtMost) {
  ShedWorld world;
  for (const std::uint32_t least : {1u, 2u, 4u, 8u, 16u}) {
    EXPECT_EQ(world.one_in(), least);
    world.pass(16, 4);
    EXPECT_EQ(world.one_in(), least) << "a few windows may be of a burst";
    world.pass(16, 1);
  }
}

TEST(Shedding, LeavesNoneWhileAnyFlowMayStillGiveWay) {
  Shedding shedding;
  Shedding::Window window{.target_ns = 30, .lightest_ns = kLightestNs, .kept = 1'000'000, .missed = 10};
  window.all_gave_way = false;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(shedding.end_window(window), 1u);
  for (int i = 0; i < 100; ++i) {
    window.all_gave_way = i % 5 != 4;
    EXPECT_EQ(shedding.end_window(window), 1u) << "never five in a row";
  }
  window.all_gave_way = true;
  for (int i = 0; i < 4; ++i) shedding.end_window(window);
  EXPECT_EQ(shedding.end_window(window), 2u);
}

TEST(Shedding, LeavesNoneWhileNoneIsLost) {
  Shedding shedding;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(shedding.end_window({30, kLightestNs, 1'000'000, 0, 0}), 1u);
  for (const std::uint32_t number : {1u, 1u, 1u, 1u, 2u})
    EXPECT_EQ(shedding.end_window({30, kLightestNs, 1'000'000, 0, 1}), number);
}

TEST(Shedding, ComesBackOnceThereHasBeenTimeForAWhile) {
  ShedWorld world;
  world.pass(20, 60);
  const std::uint32_t many = world.one_in();
  ASSERT_GT(many, 8u);
  world.pass(1000, 19);
  EXPECT_EQ(world.one_in(), many);
  world.pass(1000, 1);
  EXPECT_EQ(world.one_in(), many / 2);
  world.pass(1000, 200);
  EXPECT_EQ(world.one_in(), 1u);
  EXPECT_EQ(world.shedding().for_kept_ns(1000), 1000) << "what shares of flows weighed is forgotten";
}

TEST(Shedding, ComesBackThoughWhatIsKnownSaysThereIsNoTime) {
  Shedding shedding;
  while (shedding.one_in() < 64) shedding.end_window({10, 1e6, 10, 1000, 10});
  for (int i = 0; i < 6 * 20; ++i) shedding.end_window({10, 1e6, 10, 1000, 0, /*busy_share=*/0.3});
  EXPECT_EQ(shedding.one_in(), 1u);
}

TEST(Shedding, KeepsItsNumberUnderALoadThatDoesNotChange) {
  for (const double gap_ns : {60.0, 41.0, 39.0, 33.0, 25.0, 17.0}) {
    ShedWorld world;
    world.pass(gap_ns, 100);
    const std::uint32_t number = world.one_in();
    for (int i = 0; i < 1000; ++i) {
      world.pass(gap_ns, 1);
      ASSERT_EQ(world.one_in(), number) << gap_ns << ", window " << i;
    }
  }
}

TEST(Shedding, LearnsThatTheFlowsLookedAtHaveMoreOrFewerPackets) {
  ShedWorld heavy, light;
  heavy.pass(40, 100, /*kept_weight=*/1.8);
  light.pass(40, 100, /*kept_weight=*/0.4);
  EXPECT_GT(heavy.one_in(), 2u);
  EXPECT_EQ(heavy.lost_share(), 0);
  EXPECT_EQ(light.one_in(), 2u);
  EXPECT_GT(light.shedding().for_kept_ns(40), heavy.shedding().for_kept_ns(40));
}

TEST(Shedding, EndsAtTheMostWhereNoNumberWillDo) {
  ShedWorld world;
  world.pass(10, 100);
  EXPECT_EQ(world.one_in(), Shedding::kMostOneIn);
  world.pass(-5, 3);
  EXPECT_EQ(world.one_in(), Shedding::kMostOneIn);
}

TEST(Shedding, WindowsThatCannotBeChangeNothing) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kMuch = std::numeric_limits<double>::infinity();
  Shedding shedding;
  for (const double wrong : {kNan, kMuch, -kMuch}) {
    EXPECT_EQ(shedding.end_window({wrong, kLightestNs, 10, 0, 10}), 1u);
    EXPECT_EQ(shedding.end_window({10, wrong, 10, 0, 10}), 1u);
  }
  for (const std::uint32_t number : {1u, 1u, 1u, 1u, 2u})
    EXPECT_EQ(shedding.end_window({30, kLightestNs, 0, 0, 10}), number) << "none was kept";
}

}  // namespace
}  // namespace parshall
