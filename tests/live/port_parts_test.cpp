// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pipeline/capture/device_name.hpp"
#include "pipeline/capture/dpdk/driver_facts.hpp"
#include "pipeline/capture/dpdk/eal.hpp"
#include "pipeline/capture/dpdk/memif_rings.hpp"
#include "pipeline/capture/dpdk/rx_clock.hpp"
#include "pipeline/capture/packet_ring.hpp"
#include "pipeline/capture/stated_length.hpp"

namespace parshall::dpdk {
namespace {

using ::testing::ElementsAre;

TEST(DeviceName, TellsInterfacesPciAddressesAndVirtualDevicesApart) {
  EXPECT_EQ(DeviceName::parse("eth0")->kind, DeviceKind::kernel_interface);
  EXPECT_EQ(DeviceName::parse("eth0.100:1")->kind, DeviceKind::kernel_interface);
  EXPECT_EQ(DeviceName::parse("0000:3b:00.1")->kind, DeviceKind::pci);
  EXPECT_EQ(DeviceName::parse("3b:00.1")->name, "0000:3b:00.1");
  EXPECT_EQ(DeviceName::parse("vdev:net_pcap0,rx_pcap=a,b=c")->name, "net_pcap0");
  EXPECT_EQ(DeviceName::parse("vdev:net_pcap0,rx_pcap=a,b=c")->args, "rx_pcap=a,b=c");
  EXPECT_EQ(DeviceName::parse("vdev:net_null0")->args, "");
  EXPECT_FALSE(DeviceName::parse("vdev:").has_value());
  EXPECT_FALSE(DeviceName::parse("").has_value());
}

TEST(DeviceName, OnlyAFileThatIsPlayedOnceEndsOrAFileThatIsOnlyWritten) {
  EXPECT_TRUE(DeviceName::parse("vdev:net_pcap0,rx_pcap=a.pcap")->ends());
  EXPECT_FALSE(DeviceName::parse("vdev:net_pcap0,rx_pcap=a.pcap,infinite_rx=1")->ends());
  EXPECT_FALSE(DeviceName::parse("vdev:net_pcap0,iface=eth0")->ends());
  EXPECT_FALSE(DeviceName::parse("vdev:net_pcap0,rx_iface=eth0,tx_pcap=a.pcap")->ends());
  EXPECT_FALSE(DeviceName::parse("vdev:net_pcap0,tx_pcap=a.pcap,rx_iface_in=eth0")->ends());
  EXPECT_TRUE(DeviceName::parse("vdev:net_pcap0,tx_pcap=a.pcap")->ends());
  EXPECT_TRUE(DeviceName::parse("vdev:net_pcap0,tx_iface=eth0")->ends());
  EXPECT_FALSE(DeviceName::parse("vdev:net_ring0")->ends());
}

TEST(PacketRing, HoldsTheLongestFrameInSlotsThatFillTheirBlock) {
  for (const std::uint32_t longest : {60u, 1522u, 1982u, 1983u, 9022u, 16318u}) {
    for (const std::uint32_t frames : {1u, 64u, 1000u, 4096u, 65535u}) {
      const PacketRing ring = PacketRing::of(longest, frames);
      EXPECT_GE(ring.longest_frame(), longest);
      EXPECT_GE(ring.frames, frames);
      EXPECT_EQ(ring.block_bytes % ring.frame_bytes, 0u);
      EXPECT_EQ(ring.frames % (ring.block_bytes / ring.frame_bytes), 0u);
    }
  }
  EXPECT_EQ(PacketRing::of(1982, 64).frame_bytes, 2048u);
  EXPECT_EQ(PacketRing::of(1983, 64).frame_bytes, 4096u);
}

/// A file as the client of a memif device shares it: a ring of eight slots each way.
class MemifFile {
 public:
  explicit MemifFile(bool sealed = true) : file_(::memfd_create("rings", MFD_ALLOW_SEALING)) {
    EXPECT_EQ(::ftruncate(file_.get(), 4096), 0);
    if (sealed) ::fcntl(file_.get(), F_ADD_SEALS, F_SEAL_SHRINK);
    for (const int ring : {0, 1}) write<std::uint32_t>(ring * kRingBytes, 0x3E31F20);
  }

  void set(int ring, std::uint16_t head, std::uint16_t tail) {
    write(ring * kRingBytes + 6, head);
    write(ring * kRingBytes + 64, tail);
  }

 private:
  static constexpr int kRingBytes = 128 + 8 * 16;

  template <typename T>
  void write(int offset, T value) {
    EXPECT_EQ(::pwrite(file_.get(), &value, sizeof value, offset), static_cast<ssize_t>(sizeof value));
  }

  FileHandle file_;
};

TEST(MemifRings, TellWhatThePeerHasNotTaken) {
  MemifFile file;
  const auto rings = MemifRings::find();
  ASSERT_TRUE(rings.has_value());
  EXPECT_EQ(rings->waiting(0, false), 0u);
  file.set(0, 5, 3);
  EXPECT_EQ(rings->waiting(0, false), 2u);
  file.set(0, 2, 65535);
  EXPECT_EQ(rings->waiting(0, false), 3u) << "their numbers begin anew";
  file.set(1, 8, 6);
  EXPECT_EQ(rings->waiting(0, true), 6u);
  file.set(1, 14, 6);
  EXPECT_EQ(rings->waiting(0, true), 0u) << "the client has given back each slot";
  file.set(1, 3, 65535);
  EXPECT_EQ(rings->waiting(0, true), 4u);
}

TEST(MemifRings, AreThoseOfTheOnlyDeviceThatIsConnected) {
  EXPECT_FALSE(MemifRings::find().has_value());
  const MemifFile other(false);
  EXPECT_FALSE(MemifRings::find().has_value()) << "a file of somebody else, that may become shorter";
  const MemifFile one;
  EXPECT_TRUE(MemifRings::find().has_value());
  const MemifFile two;
  EXPECT_FALSE(MemifRings::find().has_value());
}

TEST(StatedLength, IsThatOfTheIpHeaderBehindAnyTagsAndNeverLessThanIsThere) {
  const auto frame = [](std::initializer_list<int> from_type, std::size_t bytes = 100) {
    std::vector<std::uint8_t> all(bytes);
    for (std::size_t at = 12; const int byte : from_type) all[at++] = static_cast<std::uint8_t>(byte);
    return all;
  };
  EXPECT_EQ(stated_length(frame({0x08, 0x00, 0x45, 0, 0x40, 0x01})), 14u + 0x4001);
  EXPECT_EQ(stated_length(frame({0x81, 0, 0, 7, 0x08, 0x00, 0x45, 0, 0xff, 0xff})), 18u + 65535);
  EXPECT_EQ(stated_length(frame({0x88, 0xa8, 0, 7, 0x81, 0, 0, 7, 0x86, 0xdd, 0x60, 0, 0, 0, 0x10, 0})),
            22u + 40 + 4096);
  EXPECT_EQ(stated_length(frame({0x08, 0x00, 0x45, 0, 0, 20})), 100u);
  EXPECT_EQ(stated_length(frame({0x08, 0x06, 0x45, 0, 0x40, 0x01})), 100u);
  for (std::size_t bytes = 0; bytes < 40; ++bytes)  // cut anywhere, tags without an end
    EXPECT_GE(stated_length(std::vector<std::uint8_t>(bytes, 0x81)), bytes);
}

TEST(SplitWords, QuotesAndBackslashesWorkAsInAShell) {
  EXPECT_THAT(*split_words(" -l 0-1  --vdev 'net_null0,size=64' a\\ b \"c 'd\" '' "),
              ElementsAre("-l", "0-1", "--vdev", "net_null0,size=64", "a b", "c 'd", ""));
  EXPECT_THAT(*split_words(""), ElementsAre());
  EXPECT_FALSE(split_words("--vdev 'net_null0").has_value());
}

TEST(DriverFacts, NothingIsClaimedOfAnUnknownVirtualDeviceAndEverythingOfANic) {
  EXPECT_FALSE(facts_of("net_of_tomorrow", true).counts_missed);
  EXPECT_TRUE(facts_of("net_ixgbe", false).counts_missed);
  EXPECT_FALSE(facts_of("net_ring", true).counts_no_mbuf);
  EXPECT_EQ(facts_of("net_pcap", true).timestamp, TimestampUnit::microseconds_since_1970);
  EXPECT_EQ(facts_of("net_af_packet", true).timestamp, TimestampUnit::nanoseconds_since_1970);
}

constexpr std::uint64_t kStartNs = 1'700'000'000'000'000'000;

TEST(TickClock, ConvertsTicksBeforeAndAfterTheLastPair) {
  TickClock clock({.ticks = 1000, .time_ns = kStartNs});
  EXPECT_FALSE(clock.calibrated());
  clock.feed({.ticks = 1000 + 125'000'000, .time_ns = kStartNs + 1'000'000'000});  // 125 MHz
  ASSERT_TRUE(clock.calibrated());
  EXPECT_EQ(clock.time_ns(1000 + 125'000'000), kStartNs + 1'000'000'000);
  EXPECT_EQ(clock.time_ns(1000 + 125'000'125), kStartNs + 1'000'001'000);
  EXPECT_EQ(clock.time_ns(1000), kStartNs);
}

TEST(TickClock, FollowsADriftingDeviceForADayWithinAMicrosecond) {
  // 20 ppm fast, fed once a second: a clock calibrated once would be 1.7 s off in the end.
  TickClock clock({.ticks = 0, .time_ns = kStartNs});
  for (std::uint64_t second = 1; second <= 86'400; ++second) {
    clock.feed({.ticks = second * 1'000'020'000, .time_ns = kStartNs + second * 1'000'000'000});
  }
  const std::uint64_t ticks = 86'400ull * 1'000'020'000 + 500'010'000;
  EXPECT_NEAR(static_cast<double>(clock.time_ns(ticks) - kStartNs), 86'400.5e9, 1000);
}

TEST(TickClock, StartsOverWhenTheDeviceWasReset) {
  TickClock clock({.ticks = 1'000'000, .time_ns = kStartNs});
  clock.feed({.ticks = 2'000'000, .time_ns = kStartNs + 1'000'000});
  clock.feed({.ticks = 5, .time_ns = kStartNs + 2'000'000});
  EXPECT_FALSE(clock.calibrated());
  EXPECT_EQ(clock.time_ns(5), kStartNs + 2'000'000);
}

}  // namespace
}  // namespace parshall::dpdk
