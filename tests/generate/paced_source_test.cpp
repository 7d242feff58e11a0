// SPDX-License-Identifier: Apache-2.0
#include "generate/paced_source.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <string>
#include <vector>

#include "base/random.hpp"

namespace parshall {
namespace {

std::uint64_t fake_now_ns = 0;
std::uint64_t fake_clock() noexcept { return fake_now_ns; }

std::shared_ptr<const Trace> trace(std::uint64_t packets) {
  auto made = Trace::make({.flows = 50, .packets = packets});
  EXPECT_TRUE(made);
  return std::make_shared<const Trace>(*std::move(made));
}

TEST(Pace, ASwingHasItsRateAndItsInverse) {
  const Pace pace(14.8e6, 0.25);
  EXPECT_EQ(pace.packets_by(0), 0);
  EXPECT_NEAR(pace.packets_by(0.25), 7.4e6 * 0.25, 1);
  EXPECT_NEAR((pace.packets_by(0.126) - pace.packets_by(0.124)) / 0.002, 14.8e6, 1e4) << "half-way it is highest";
  EXPECT_LT(pace.packets_by(0.001), 10) << "it begins with none";
  SplitMix64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const double packets = 1e9 * random.uniform();
    ASSERT_NEAR(pace.packets_by(pace.time_of(packets)), packets, 1);
    ASSERT_NEAR(Pace(3e6).time_of(Pace(3e6).packets_by(packets)), packets, 1e-6 * packets);
  }
}

/// Against a queue of packet numbers.
TEST(PacedSource, DeliversMissesAndStampsWhatAQueueWould) {
  SplitMix64 random(2);
  for (const std::uint64_t room : {1u, 7u, 100u, 4096u})
    for (const double period_s : {0.0, 0.01}) {
      SCOPED_TRACE(std::to_string(room) + " packets, swing " + std::to_string(period_s) + " s");
      const auto frames = trace(777);
      const Pace pace(1e6, period_s);
      fake_now_ns = 5'000'000;
      PacedSource source(frames, pace, room, 1'000'000'000, fake_clock);
      std::deque<std::uint64_t> queue;
      std::uint64_t came = 0, missed = 0, delivered = 0, last_ns = 0;
      for (int step = 0; step < 20'000; ++step) {
        const auto by_now =
            static_cast<std::uint64_t>(pace.packets_by(static_cast<double>(fake_now_ns - 5'000'000) / 1e9));
        for (; came < by_now; ++came)
          if (queue.size() < room)
            queue.push_back(came);
          else
            ++missed;
        std::array<RawPacket, 64> batch;
        const std::size_t asked = random.below(65);
        const std::size_t count = source.poll({batch.data(), asked});
        ASSERT_EQ(count, std::min(asked, queue.size()));
        for (std::size_t i = 0; i < count; ++i) {
          const std::uint64_t number = queue.front();
          queue.pop_front();
          ASSERT_EQ(batch[i].data, frames->frame(number % 777));
          ASSERT_EQ(batch[i].wire_bytes, 60u);
          const double came_ns = pace.time_of(static_cast<double>(number + 1)) * 1e9;
          // Packets that came within 50 us are on a line.
          ASSERT_NEAR(static_cast<double>(batch[i].time_ns - 1'000'000'000), came_ns, period_s == 0 ? 2 : 25'000);
          ASSERT_GE(batch[i].time_ns, last_ns);
          ASSERT_LE(batch[i].time_ns, source.now_ns());
          last_ns = batch[i].time_ns;
        }
        delivered += count;
        ASSERT_EQ(source.counters().received, delivered);
        ASSERT_EQ(source.counters().nic_missed, missed);
        ASSERT_EQ(delivered + missed + queue.size(), came) << "none is lost or invented";
        fake_now_ns += random.below(step % 1000 < 500 ? 20'000 : 200'000);
      }
      EXPECT_GT(delivered, 10'000u);
      EXPECT_GT(missed, 1000u);
    }
}

TEST(PacedSource, AQueueThatIsEmptiedInTimeMissesNothing) {
  PacedSource source(trace(100), Pace(1e6), 64, 0, fake_clock);
  std::array<RawPacket, 256> batch;
  std::uint64_t delivered = 0;
  fake_now_ns = 0;
  for (; fake_now_ns < 1'000'000'000; fake_now_ns += 60'000) delivered += source.poll(batch);
  EXPECT_EQ(source.counters().nic_missed, 0u);
  EXPECT_NEAR(static_cast<double>(delivered), 1e6, 64);
  EXPECT_FALSE(source.exhausted());
  EXPECT_FALSE(source.lossless());
}

TEST(TrafficSpec, ReadsAPace) {
  const auto spec = TrafficSpec::parse("flows=10,pace=2000000,swing=250,queue=512");
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->pace_pps, 2e6);
  EXPECT_EQ(spec->swing_ms, 250);
  EXPECT_EQ(spec->queue, 512u);
  for (const char* wrong :
       {"pace=0", "pace=-1", "pace=fast", "pace=2000000,swing=0", "pace=1,queue=0", "swing=250", "queue=12"})
    EXPECT_FALSE(TrafficSpec::parse(wrong)) << wrong;
}

}  // namespace
}  // namespace parshall
