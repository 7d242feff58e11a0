// SPDX-License-Identifier: Apache-2.0
#include "traffic/paced_source.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace parshall {
namespace {

std::uint64_t fake_now_ns = 0;
std::uint64_t fake_clock() noexcept { return fake_now_ns; }

std::shared_ptr<const Trace> paced_trace(std::uint64_t packets) {
  auto made = Trace::make({.flows = 50, .packets = packets});
  EXPECT_TRUE(made);
  return std::make_shared<const Trace>(*std::move(made));
}

TEST(Pace, ASwingGoesFromNoneToItsHighestRateAndBack) {
  const Pace pace(14.8e6, 0.25);
  EXPECT_EQ(pace.packets_by(0), 0);
  EXPECT_NEAR(pace.packets_by(0.25), 7.4e6 * 0.25, 1);
  EXPECT_NEAR((pace.packets_by(0.126) - pace.packets_by(0.124)) / 0.002, 14.8e6, 1e4) << "half-way it is highest";
  EXPECT_LT(pace.packets_by(0.001), 10) << "it begins with none";
  EXPECT_NEAR(pace.packets_by(25) - pace.packets_by(24.999), pace.packets_by(0.001), 1) << "and ends with none";
  EXPECT_EQ(Pace(3e6).packets_by(0.5), 1.5e6);
}

/// What a source that began earlier delivers from there on.
TEST(PacedSource, MayBeginWhereAnotherWouldBe) {
  constexpr std::uint64_t kBeginNs = 20'000'000, kStepNs = 10'000;
  for (const double period_s : {0.0, 0.01}) {
    const auto frames = paced_trace(777);
    const Pace pace(1e6, period_s);
    fake_now_ns = 0;
    PacedSource whole(frames, pace, 4096, 1'000'000'000, fake_clock), late = whole;
    late.begin_at(kBeginNs);
    std::array<RawPacket, 64> batch, other;
    whole.poll(batch);
    while (fake_now_ns < kBeginNs) fake_now_ns += kStepNs, whole.poll(batch);
    EXPECT_EQ(late.poll(other), 0u);
    for (int step = 0; step < 1000; ++step) {
      fake_now_ns += kStepNs;
      const std::size_t count = whole.poll(batch);
      ASSERT_EQ(late.poll(other), count);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(other[i].data, batch[i].data);
        ASSERT_EQ(other[i].time_ns, batch[i].time_ns);
      }
    }
    EXPECT_EQ(late.counters()[Counter::nic_missed], 0u) << "what came before came to nobody";
  }
}

TEST(PacedSource, MayPlayTheTraceFromAnyOfItsPacketsOn) {
  const auto frames = paced_trace(777);
  fake_now_ns = 0;
  PacedSource source(frames, Pace(1e6), 4096, 0, fake_clock);
  source.play_from(3 * 777 + 700);
  std::array<RawPacket, 100> batch;
  source.poll(batch);
  fake_now_ns = 100'000;
  ASSERT_EQ(source.poll(batch), 100u);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    EXPECT_EQ(batch[i].data, frames->frame((700 + i) % 777));
    EXPECT_EQ(batch[i].time_ns, 1000 * (i + 1)) << "which changes nothing of its time";
  }
}

/// Against a queue of packet numbers.
TEST(PacedSource, DeliversMissesAndStampsWhatAQueueWould) {
  SplitMix64 random(2);
  for (const std::uint64_t room : {1u, 7u, 100u, 4096u})
    for (const double period_s : {0.0, 0.01}) {
      SCOPED_TRACE(std::to_string(room) + " packets, swing " + std::to_string(period_s) + " s");
      const auto frames = paced_trace(777);
      const Pace pace(1e6, period_s);
      fake_now_ns = 5'000'000;
      PacedSource source(frames, pace, room, 1'000'000'000, fake_clock);
      std::deque<std::pair<std::uint64_t, std::array<std::uint64_t, 2>>> queue;  ///< and the polls it came between
      std::uint64_t polled_ns = fake_now_ns;
      std::uint64_t came = 0, missed = 0, delivered = 0, last_ns = 0;
      for (int step = 0; step < 20'000; ++step) {
        const auto by_now =
            static_cast<std::uint64_t>(pace.packets_by(static_cast<double>(fake_now_ns - 5'000'000) / 1e9));
        for (; came < by_now; ++came)
          if (queue.size() < room)
            queue.push_back({came, {polled_ns, fake_now_ns}});
          else
            ++missed;
        polled_ns = fake_now_ns;
        std::array<RawPacket, 64> batch;
        const std::size_t asked = random.below(65);
        const std::size_t count = source.poll({batch.data(), asked});
        ASSERT_EQ(count, std::min(asked, queue.size()));
        for (std::size_t i = 0; i < count; ++i) {
          const auto [number, between] = queue.front();
          queue.pop_front();
          ASSERT_EQ(batch[i].data, frames->frame(number % 777));
          ASSERT_EQ(batch[i].captured_bytes, 60u);
          ASSERT_EQ(batch[i].wire_bytes, 60u);
          const std::uint64_t time_ns = batch[i].time_ns - 1'000'000'000 + 5'000'000;
          ASSERT_TRUE(between[0] <= time_ns && time_ns <= between[1]) << time_ns;
          // Even between polls, at a constant pace, is exact but for a part of a packet.
          if (period_s == 0) {
            ASSERT_NEAR(static_cast<double>(time_ns), 5e6 + 1000.0 * static_cast<double>(number + 1), 1500);
          }
          ASSERT_GE(batch[i].time_ns, last_ns);
          ASSERT_LE(batch[i].time_ns, source.now_ns());
          last_ns = batch[i].time_ns;
        }
        delivered += count;
        ASSERT_EQ(source.counters()[Counter::nic_received], delivered);
        ASSERT_EQ(source.counters()[Counter::nic_missed], missed);
        ASSERT_EQ(delivered + missed + queue.size(), came) << "none is lost or invented";
        fake_now_ns += random.below(step % 1000 < 500 ? 20'000 : 200'000);
      }
      EXPECT_GT(delivered, 10'000u);
      EXPECT_GT(missed, 1000u);
    }
}

TEST(PacedSource, NoPacketIsOlderThanWhatWasSaidToBeNowAndAClockMayGoBack) {
  fake_now_ns = 1'000'000;
  PacedSource source(paced_trace(100), Pace(1e9), 64, 0, fake_clock);
  std::array<RawPacket, 64> batch;
  EXPECT_EQ(source.poll(batch), 0u);
  fake_now_ns += 5'000'000;
  const std::uint64_t now_ns = source.now_ns();
  ASSERT_EQ(source.poll(batch), 64u);
  EXPECT_GE(batch[0].time_ns, now_ns);
  EXPECT_EQ(source.counters()[Counter::nic_missed], 5'000'000u - 64);
  fake_now_ns -= 3'000'000;
  EXPECT_EQ(source.poll(batch), 0u);
  fake_now_ns -= 3'000'000;
  EXPECT_EQ(source.poll(batch), 0u);
  EXPECT_EQ(source.counters()[Counter::nic_missed], 5'000'000u - 64);
}

TEST(PacedSource, AQueueThatIsEmptiedInTimeMissesNothing) {
  PacedSource source(paced_trace(100), Pace(1e6), 64, 0, fake_clock);
  std::array<RawPacket, 256> batch;
  std::uint64_t delivered = 0;
  fake_now_ns = 0;
  for (; fake_now_ns < 1'000'000'000; fake_now_ns += 60'000) delivered += source.poll(batch);
  EXPECT_EQ(source.counters()[Counter::nic_missed], 0u);
  EXPECT_NEAR(static_cast<double>(delivered), 1e6, 64);
  EXPECT_FALSE(source.exhausted());
  EXPECT_FALSE(source.lossless());
}

TEST(TrafficSpec, ReadsAPace) {
  const auto spec = TrafficSpec::parse("flows=10,pace=2000000,swing=250,queue=512", TrafficSpec::kAll);
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->pace_pps, 2e6);
  EXPECT_EQ(spec->swing_ms, 250);
  EXPECT_EQ(spec->queue, 512u);
  for (const char* wrong : {"pace=0", "pace=-1", "pace=fast", "pace=2000000,swing=0", "pace=1,queue=0", "swing=250",
                            "queue=12", "queue=4096", "pace=9,rate=5"})
    EXPECT_FALSE(TrafficSpec::parse(wrong, TrafficSpec::kAll)) << wrong;
  EXPECT_FALSE(TrafficSpec::parse("pace=2000000")) << "benches take packets as they can";
}

}  // namespace
}  // namespace parshall
