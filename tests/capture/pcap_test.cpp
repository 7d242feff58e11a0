// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "delivery.hpp"

namespace parshall::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kPcapSecond = 1'000'000'000;

TEST(Pcap, AMicrosecondFileOfEitherByteOrderGivesTheSamePackets) {
  for (const Order order : {Order::little, Order::big}) {
    const PcapFile file{.order = order};
    Bytes bytes = file.header();
    bytes += file.record(1700000000, 999999, payload(60), 1514);
    bytes += file.record(4294967295, 1, payload(0), 64);

    const Delivery got = read_every_way(bytes);

    EXPECT_EQ(got.damage, "");
    ASSERT_EQ(got.packets.size(), 2u);
    EXPECT_EQ(got.packets[0], (Delivered{1700000000 * kPcapSecond + 999999000, 1514, LinkType::ethernet, payload(60)}));
    EXPECT_EQ(got.packets[1], (Delivered{4294967295 * kPcapSecond + 1000, 64, LinkType::ethernet, {}}));
  }
}

TEST(Pcap, ANanosecondFileKeepsItsNanoseconds) {
  for (const Order order : {Order::little, Order::big}) {
    const PcapFile file{.order = order, .magic = 0xa1b23c4d, .network = 101};
    Bytes bytes = file.header();
    bytes += file.record(7, 123456789, payload(20), 20);

    const Delivery got = read_every_way(bytes);

    ASSERT_EQ(got.packets.size(), 1u);
    EXPECT_EQ(got.packets[0], (Delivered{7 * kPcapSecond + 123456789, 20, LinkType::raw, payload(20)}));
  }
}

TEST(Pcap, AModifiedFileHasEightMoreBytesInEachRecordHeader) {
  for (const Order order : {Order::little, Order::big}) {
    const PcapFile file{.order = order, .magic = 0xa1b2cd34};
    Bytes bytes = file.header();
    for (std::uint32_t i = 0; i < 3; ++i) {
      bytes += Writer(order).put(i).put(5u).put(10u).put(90u).put(1u).put(2u).put(payload(10, i)).bytes;
    }
    const Delivery got = read_every_way(bytes);

    ASSERT_EQ(got.packets.size(), 3u);
    EXPECT_EQ(got.packets[2], (Delivered{2 * kPcapSecond + 5000, 90, LinkType::ethernet, payload(10, 2)}));
  }
}

TEST(Pcap, VersionsBefore2Point3HaveTheWireLengthFirst) {
  const PcapFile file{.minor = 2};
  Bytes bytes = file.header();
  bytes += Writer(Order::little).put(1u).put(0u).put(100u).put(8u).put(payload(8)).bytes;

  const Delivery got = read_every_way(bytes);

  ASSERT_EQ(got.packets.size(), 1u);
  EXPECT_EQ(got.packets[0].wire_bytes, 100u);
  EXPECT_EQ(got.packets[0].captured, payload(8));
}

TEST(Pcap, InVersion2Point3TheSmallerLengthIsTheCapturedOne) {
  const PcapFile file{.minor = 3};
  Bytes bytes = file.header();
  bytes += Writer(Order::little).put(1u).put(0u).put(100u).put(8u).put(payload(8)).bytes;
  bytes += Writer(Order::little).put(1u).put(0u).put(8u).put(100u).put(payload(8)).bytes;

  const Delivery got = read_every_way(bytes);

  ASSERT_EQ(got.packets.size(), 2u);
  EXPECT_EQ(got.packets[0].wire_bytes, 100u);
  EXPECT_EQ(got.packets[1].wire_bytes, 100u);
}

TEST(Pcap, AFrameCheckSequenceLengthIsNotPartOfTheLinkType) {
  const PcapFile file{.network = 0x34000071};
  Bytes bytes = file.header();
  bytes += file.record(1, payload(16));

  const Delivery got = read_every_way(bytes);

  ASSERT_EQ(got.packets.size(), 1u);
  EXPECT_EQ(got.packets[0].link_type, LinkType::linux_sll);
}

TEST(Pcap, ACapturedLengthAboveTheWireLengthIsBelieved) {
  const PcapFile file;
  Bytes bytes = file.header();
  bytes += file.record(1, 0, payload(60), 20);

  const Delivery got = read_every_way(bytes);

  ASSERT_EQ(got.packets.size(), 1u);
  EXPECT_EQ(got.packets[0].wire_bytes, 20u);
  EXPECT_EQ(got.packets[0].captured.size(), 60u);
}

TEST(Pcap, AFileWithoutPacketsIsNotDamaged) {
  const Delivery got = read_every_way(PcapFile{}.header());

  EXPECT_EQ(got.damage, "");
  EXPECT_TRUE(got.packets.empty());
}

Bytes two_packets() {
  const PcapFile file;
  Bytes bytes = file.header();
  bytes += file.record(1, payload(60));
  bytes += file.record(2, payload(60));
  return bytes;
}

TEST(PcapDamage, ACutAtAnyByteKeepsTheWholePacketsBeforeItAndIsReported) {
  const Bytes whole = two_packets();
  for (std::size_t size = 4; size < whole.size(); ++size) {
    const Delivery got = read_as_file(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    const bool at_a_border = size == 24 || size == 100;
    EXPECT_EQ(got.packets.size(), size < 100 ? 0u : 1u) << "cut to " << size;
    EXPECT_EQ(got.damage.empty(), at_a_border) << "cut to " << size << ": " << got.damage;
  }
}

TEST(PcapDamage, ACutRecordHeaderIsNamedWithPacketAndOffset) {
  Bytes bytes = two_packets();
  bytes.resize(100 + 7);
  EXPECT_EQ(read_every_way(bytes).damage, "capture: record header cut: 7 of 16 bytes, at packet 2, byte offset 100");
}

TEST(PcapDamage, CutCapturedBytesAreNamedWithPacketAndOffset) {
  Bytes bytes = two_packets();
  bytes.resize(bytes.size() - 1);
  EXPECT_EQ(read_every_way(bytes).damage, "capture: captured bytes cut: 59 of 60, at packet 2, byte offset 100");
}

TEST(PcapDamage, ACutFileHeaderIsNamed) {
  Bytes bytes = two_packets();
  bytes.resize(23);
  EXPECT_THAT(read_every_way(bytes).damage, HasSubstr("file header cut: 23 of 24 bytes"));
}

TEST(PcapDamage, AnAbsurdCapturedLengthEndsTheCaptureAtThatRecord) {
  Bytes bytes = two_packets();
  bytes += Writer(Order::little).put(3u).put(0u).put(262145u).put(60u).put(payload(300000)).bytes;

  const Delivery got = read_every_way(bytes);

  EXPECT_EQ(got.packets.size(), 2u);
  EXPECT_THAT(got.damage, HasSubstr("262145 captured bytes (limit 262144), at packet 3, byte offset 176"));
}

TEST(PcapDamage, TheLargestAllowedRecordIsRead) {
  const PcapFile file;
  Bytes bytes = file.header();
  bytes += file.record(1, payload(262144));
  bytes += file.record(2, payload(60));

  EXPECT_EQ(read_every_way(bytes).packets.size(), 2u);
}

TEST(PcapDamage, AnUnknownVersionIsRefused) {
  Bytes bytes = PcapFile{.major = 1}.header();
  bytes += PcapFile{}.record(1, payload(60));

  const Delivery got = read_every_way(bytes);

  EXPECT_TRUE(got.packets.empty());
  EXPECT_THAT(got.damage, HasSubstr("version 1.4"));
}

TEST(PcapDamage, ReservedBitsInTheLinkTypeAreRefused) {
  Bytes bytes = PcapFile{.network = 0x00300001}.header();
  bytes += PcapFile{}.record(1, payload(60));

  EXPECT_THAT(read_every_way(bytes).damage, HasSubstr("0x00300001"));
}

}  // namespace
}  // namespace parshall::testing
