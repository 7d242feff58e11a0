// SPDX-License-Identifier: Apache-2.0
#include "tester/quiet.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "base/realtime.hpp"
#include "frames.hpp"
#include "traffic/frame.hpp"

namespace parshall::tester {
namespace {

using testing::ethernet;
using testing::ipv4;
using testing::udp;

constexpr std::uint64_t kMs = 1'000'000;

/// A device that still has frames in its queue: one a millisecond, for some time.
class Queue final : public PacketSource {
 public:
  Queue(Bytes frame, std::uint64_t for_ns) : frame_(std::move(frame)), until_ns_(realtime_ns() + for_ns) {}

  std::size_t poll(std::span<RawPacket> out) noexcept override {
    const std::uint64_t now_ns = realtime_ns();
    if (now_ns >= until_ns_ || now_ns < next_ns_) return 0;
    next_ns_ = now_ns + kMs;
    out[0] = packet_of(frame_, LinkType::ethernet, now_ns);
    return 1;
  }

  std::uint64_t until_ns() const noexcept { return until_ns_; }

 private:
  Bytes frame_;
  std::uint64_t until_ns_, next_ns_ = 0;
};

Bytes test_frame() {
  return with_checksums(ethernet(kEtherIpv4, ipv4(17, udp(1, 2, payload_with({.stream = 9, .time_ns = 1}, 40)))));
}

bool never() { return false; }

TEST(Quiet, IsNotThereWhileFramesOfATestStillCome) {
  Queue queue(test_frame(), 100 * kMs);
  EXPECT_TRUE(wait_until_quiet(queue, {.since_ns = 0, .quiet_ns = 30 * kMs}, never));
  EXPECT_GE(realtime_ns(), queue.until_ns());
}

TEST(Quiet, IsThereAtOnceWhereNothingHasComeForLongEnough) {
  Queue queue(test_frame(), 0);
  const std::uint64_t began_ns = realtime_ns();
  EXPECT_TRUE(wait_until_quiet(queue, {.since_ns = began_ns - 2'000'000 * kMs, .quiet_ns = 1'000'000 * kMs}, never));
  EXPECT_TRUE(wait_until_quiet(queue, {.since_ns = began_ns, .quiet_ns = 20 * kMs}, never));
  EXPECT_GE(realtime_ns(), began_ns + 20 * kMs);
}

TEST(Quiet, IsNotDisturbedByOtherTraffic) {
  Queue queue(with_checksums(ethernet(kEtherIpv4, ipv4(17, udp(1, 2, Bytes(40))))), 1'000'000 * kMs);
  EXPECT_TRUE(wait_until_quiet(queue, {.since_ns = 0, .quiet_ns = 20 * kMs, .patience_ns = 60'000 * kMs}, never));
}

TEST(Quiet, IsNotWaitedForWithoutEnd) {
  Queue queue(test_frame(), 1'000'000 * kMs);
  EXPECT_FALSE(wait_until_quiet(queue, {.since_ns = 0, .quiet_ns = 1'000 * kMs, .patience_ns = 50 * kMs}, never));
  EXPECT_FALSE(wait_until_quiet(queue, {.since_ns = 0, .quiet_ns = 1'000 * kMs}, [] { return true; }));
}

}  // namespace
}  // namespace parshall::tester
