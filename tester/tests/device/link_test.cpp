// SPDX-License-Identifier: Apache-2.0
#include "tester/device/link.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/realtime.hpp"

namespace parshall::tester {
namespace {

/// A device that gives so many frames, and had no room or no buffer for others.
class FullDevice final : public PacketSource {
 public:
  explicit FullDevice(std::size_t frames) : left_(frames) {}
  std::size_t poll(std::span<RawPacket> out) noexcept override {
    const std::size_t count = std::min(out.size(), left_);
    left_ -= count;
    for (RawPacket& packet : out.first(count))
      packet = {.data = frame_.data(), .time_ns = realtime_ns(), .captured_bytes = 60, .wire_bytes = 60};
    return count;
  }
  Counters counters() noexcept override { return device; }

  Counters device;

 private:
  std::size_t left_;
  std::vector<std::uint8_t> frame_ = std::vector<std::uint8_t>(60);
};

/// Takes some frames, and refuses all others.
class SmallSink final : public FrameSink {
 public:
  explicit SmallSink(std::size_t room) : room_(room) {}
  std::size_t reserve(std::span<OutFrame> frames) noexcept override {
    for (OutFrame& frame : frames) frame.data = bytes_.data();
    return frames.size();
  }
  std::size_t send(std::size_t count) noexcept override {
    const std::size_t taken = std::min(count, room_);
    room_ -= taken;
    return taken;
  }
  std::uint32_t longest_frame() const noexcept override { return 1514; }

 private:
  std::size_t room_;
  std::vector<std::uint8_t> bytes_ = std::vector<std::uint8_t>(1514);
};

LinkCounts pass_on(FullDevice& from) {
  SmallSink to(900);
  LinkSeeds seeds;
  int polls = 0;
  return run_link(from, to, {.limit = 10'000}, seeds, [&] { return ++polls > 1000; });
}

TEST(Link, AccountsForFramesThatItsDevicesHadNoRoomFor) {
  FullDevice from(1000);
  from.device.set(Counter::nic_missed, 250);
  from.device.set(Counter::no_mbuf, 7);
  const LinkCounts counts = pass_on(from);
  EXPECT_EQ(counts.entered, 1000u);
  EXPECT_EQ(counts.missed, 257u);
  EXPECT_EQ(counts.sent, 900u);
  EXPECT_EQ(counts.unsent, 100u);
}

TEST(Link, SaysNothingOfWhatItsDeviceDoesNotTell) {
  FullDevice from(10);
  EXPECT_FALSE(pass_on(from).missed);
  FullDevice other(10);
  other.device.set(Counter::nic_missed, 0);
  EXPECT_EQ(pass_on(other).missed, 0u);
}

}  // namespace
}  // namespace parshall::tester
