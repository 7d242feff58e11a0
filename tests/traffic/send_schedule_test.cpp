// SPDX-License-Identifier: Apache-2.0
#include "traffic/send_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "traffic/frame.hpp"

namespace parshall {
namespace {

using Unit = SendRate::Unit;

SendRate rate(const std::string& text) {
  const auto parsed = SendRate::parse(text);
  EXPECT_TRUE(parsed) << text;
  return parsed ? *parsed : SendRate{};
}

TEST(SendRate, IsReadInPacketsBitsSharesAndMultiples) {
  EXPECT_EQ(rate("asap"), SendRate{});
  EXPECT_EQ(rate("14.88Mpps"), (SendRate{Unit::packets, 14.88e6}));
  EXPECT_EQ(rate("3kpps"), (SendRate{Unit::packets, 3000}));
  EXPECT_EQ(rate("0.5pps"), (SendRate{Unit::packets, 0.5}));
  EXPECT_EQ(rate("10Gbps"), (SendRate{Unit::line_bits, 1e10}));
  EXPECT_EQ(rate("40%"), (SendRate{Unit::line_share, 0.4}));
  EXPECT_EQ(rate("40%").on_line(1e9), (SendRate{Unit::line_bits, 4e8}));
  EXPECT_EQ(rate("2x"), (SendRate{Unit::captured, 2}));
  for (const char* wrong : {"", "1", "pps", "1mpps", "-1pps", "0pps", "1e30pps", "nanpps", "infpps", "1 pps", "1pps ",
                            "0x10pps", "asap1", "%", "1e-300x"})
    EXPECT_FALSE(SendRate::parse(wrong)) << wrong;
}

TEST(SendSchedule, SpacesPacketsEvenly) {
  SendSchedule schedule(rate("3pps"));
  for (std::uint64_t i = 0; i < 1000; ++i)
    ASSERT_EQ(schedule.next(0, 60), static_cast<std::uint64_t>(std::llround(static_cast<double>(i) * 1e9 / 3)));
}

TEST(SendSchedule, LosesNothingInManyPackets) {
  SendSchedule schedule(rate("14880952pps"));
  std::uint64_t due = 0;
  constexpr std::uint64_t kPackets = 50'000'000;
  for (std::uint64_t i = 0; i <= kPackets; ++i) due = schedule.next(0, 60);
  EXPECT_NEAR(static_cast<double>(due), static_cast<double>(kPackets) * 1e9 / 14880952, 1);
}

/// 60 bytes without FCS take 84 bytes of the line: the 14.88 Mpps of 10 GbE.
TEST(SendSchedule, CountsWhatTheLineNeedsAroundAFrame) {
  SendSchedule schedule(rate("10Gbps"));
  schedule.next(0, 60);
  EXPECT_EQ(schedule.next(0, 1514), 67u) << "the second frame begins when the first has gone: 67.2 ns";
  EXPECT_EQ(schedule.next(0, 20), 1298u) << "1230.4 ns later";
  EXPECT_EQ(schedule.next(0, 60), 1365u) << "short frames are padded on the line";
}

TEST(SendSchedule, KnowsHowManyAreLeftBeforeATime) {
  for (const double pps : {0.7, 1000.0, 33'333.3, 1e6})
    for (const SendRamp& ramp : {SendRamp{}, SendRamp{pps / 3, 400'000'000}, SendRamp{pps * 2, 10'000'000'000}})
      for (const std::uint32_t burst : {1, 7, 100})
        for (const std::uint64_t until_ns : {1ull, 1'000'000ull, 50'000'000ull, 123'456'789ull, 700'000'001ull}) {
          SendSchedule schedule({Unit::packets, pps}, ramp, burst);
          const std::uint64_t all = *schedule.left_before(until_ns);
          std::uint64_t due = 0;
          while (schedule.next(0, 60) < until_ns) {
            ++due;
            if (due == all / 2) {
              EXPECT_EQ(*schedule.left_before(until_ns), all - due);
            }
          }
          EXPECT_NEAR(static_cast<double>(all), static_cast<double>(due), burst == 1 ? 1 : 0) << pps << " " << burst;
          EXPECT_EQ(*schedule.left_before(until_ns), 0u);
        }
  SendSchedule changed({Unit::packets, 1000});
  changed.next(0, 60);
  changed.change({Unit::packets, 10}, 500'000'000);
  EXPECT_EQ(changed.left_before(1'500'000'000), 10u);
  EXPECT_EQ(changed.left_before(500'000'000), 0u);
  EXPECT_FALSE(SendSchedule({Unit::line_bits, 1e9}).left_before(1));
}

TEST(SendSchedule, ReachesItsRateByTheRamp) {
  for (const double from : {0.0, 100.0, 5000.0, 20000.0}) {
    SendSchedule schedule(rate("10kpps"), {.from = from, .time_ns = 2'000'000'000});
    std::vector<std::uint64_t> due;
    for (int i = 0; i < 60'000; ++i) due.push_back(schedule.next(0, 60));
    const auto sent_by = [&](double s) {
      return static_cast<double>(std::ranges::upper_bound(due, static_cast<std::uint64_t>(s * 1e9)) - due.begin());
    };
    for (const double s : {0.1, 0.5, 1.0, 1.7, 2.0})
      EXPECT_NEAR(sent_by(s), from * s + (10000 - from) / 2 * s * s / 2, 2) << from << " at " << s;
    EXPECT_NEAR(sent_by(3) - sent_by(2), 10000, 2) << from;
    EXPECT_TRUE(std::ranges::is_sorted(due));
  }
}

TEST(SendSchedule, SendsBurstsWithPausesThatKeepTheRate) {
  SendSchedule schedule(rate("1000pps"), {}, 10);
  for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(schedule.next(0, 60), i / 10 * 10'000'000) << i;
}

TEST(SendSchedule, FollowsACapturesTimeAtAMultipleAndNeverGoesBack) {
  SendSchedule schedule(rate("2x"));
  std::vector<std::uint64_t> due;
  for (const std::uint64_t time : {5000u, 7000u, 6000u, 4000u, 7000u, 9000u}) due.push_back(schedule.next(time, 60));
  EXPECT_EQ(due, (std::vector<std::uint64_t>{0, 1000, 1000, 1000, 1000, 2000}));
}

TEST(SendSchedule, GoesOnAtAnotherRateFromNow) {
  SendSchedule schedule(rate("1pps"));
  for (int i = 0; i < 100; ++i) schedule.next(0, 60);  // asked for, and not sent: due long after
  schedule.change(rate("1000pps"), 2'500'000'000);
  EXPECT_EQ(schedule.next(0, 60), 2'500'000'000u);
  EXPECT_EQ(schedule.next(0, 60), 2'501'000'000u);
}

TEST(SendSchedule, HasNothingToWaitForAsFastAsTaken) {
  EXPECT_FALSE(SendSchedule(SendRate{}).paced());
  EXPECT_TRUE(SendSchedule(rate("1pps")).paced());
}

}  // namespace
}  // namespace parshall
