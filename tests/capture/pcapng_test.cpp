// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "delivery.hpp"
#include "pipeline/capture/pcapng_clock.hpp"

namespace parshall::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kSecond = 1'000'000'000;

TEST(Pcapng, SectionsOfBothByteOrdersMayFollowEachOther) {
  Bytes bytes;
  for (const Order order : {Order::little, Order::big, Order::little}) {
    const PcapngFile file{.order = order};
    bytes += file.section();
    bytes += file.interface(order == Order::big ? 101 : 1);
    bytes += file.packet(0, 1'700'000'000'123'456, payload(61), 1514);
  }
  const Delivery got = read_every_way(bytes);

  EXPECT_EQ(got.damage, "");
  ASSERT_EQ(got.packets.size(), 3u);
  const std::uint64_t time_ns = 1'700'000'000 * kSecond + 123'456'000;
  EXPECT_EQ(got.packets[0], (Delivered{time_ns, 1514, LinkType::ethernet, payload(61)}));
  EXPECT_EQ(got.packets[1], (Delivered{time_ns, 1514, LinkType::raw, payload(61)}));
  EXPECT_EQ(got.packets[2], got.packets[0]);
}

TEST(Pcapng, EveryInterfaceHasItsOwnLinkTypeAndClock) {
  const PcapngFile file;
  Bytes bytes = file.section();
  bytes += file.interface(1, 0, file.resolution(9));
  bytes += file.interface(113, 0, file.resolution(0x80 | 10));
  Bytes both = file.resolution(3);
  both += file.offset(1000);
  bytes += file.interface(276, 0, both);
  bytes += file.packet(2, 1500, payload(20), 20);
  bytes += file.packet(1, 1536, payload(20), 20);
  bytes += file.packet(0, 1'500'000'001, payload(20), 20);

  const Delivery got = read_every_way(bytes);

  ASSERT_EQ(got.packets.size(), 3u);
  EXPECT_EQ(got.packets[0], (Delivered{1001 * kSecond + 500'000'000, 20, LinkType::linux_sll2, payload(20)}));
  EXPECT_EQ(got.packets[1], (Delivered{kSecond + 500'000'000, 20, LinkType::linux_sll, payload(20)}));
  EXPECT_EQ(got.packets[2], (Delivered{kSecond + 500'000'001, 20, LinkType::ethernet, payload(20)}));
}

TEST(Pcapng, ASimplePacketEndsAtTheInterfacesSnapLengthAndHasNoTime) {
  const PcapngFile file;
  Bytes bytes = file.section();
  bytes += file.interface(1, 50);
  bytes += file.simple_packet(1000, payload(50));
  bytes += file.simple_packet(42, payload(42));

  const Delivery got = read_every_way(bytes);

  ASSERT_EQ(got.packets.size(), 2u);
  EXPECT_EQ(got.packets[0], (Delivered{0, 1000, LinkType::ethernet, payload(50)}));
  EXPECT_EQ(got.packets[1], (Delivered{0, 42, LinkType::ethernet, payload(42)})) << "padding is not captured";
}

TEST(Pcapng, TheObsoletePacketBlockIsRead) {
  const PcapngFile file{.order = Order::big};
  Bytes bytes = file.section(1, 2);
  bytes += file.interface(1);
  bytes += file.interface(101);
  bytes += file.obsolete_packet(1, 5, payload(33));

  const Delivery got = read_every_way(bytes);

  ASSERT_EQ(got.packets.size(), 1u);
  EXPECT_EQ(got.packets[0], (Delivered{5000, 33, LinkType::raw, payload(33)}));
}

TEST(Pcapng, BlocksOfOtherTypesArePassedOver) {
  const PcapngFile file;
  Bytes bytes = file.section();
  bytes += file.block(4, payload(100));
  bytes += file.interface(1);
  bytes += file.block(0x80000bad, {});
  bytes += file.packet(1, payload(60));
  bytes += file.block(5, payload(1));

  const Delivery got = read_every_way(bytes);

  EXPECT_EQ(got.damage, "");
  EXPECT_EQ(got.packets.size(), 1u);
}

TEST(Pcapng, ABlockLargerThanAnyBufferIsPassedOverInAStream) {
  const PcapngFile file;
  Bytes bytes = file.section();
  bytes += file.interface(1);
  bytes += file.packet(1, payload(60));
  bytes += file.block(0x99, Bytes(40u << 20));
  bytes += file.packet(2, payload(60));

  const Delivery got = read_as_stream(bytes, 1 << 20);

  EXPECT_EQ(got.damage, "");
  EXPECT_EQ(got.packets.size(), 2u);
}

/// A section, an interface and a packet, 28 + 20 + 92 bytes, with something after them.
Bytes sound_then(const Bytes& more) {
  const PcapngFile file;
  Bytes bytes = file.section();
  bytes += file.interface(1);
  bytes += file.packet(1, payload(60));
  bytes += more;
  return bytes;
}

void expect_damage(const Bytes& after, const std::string& what) {
  const Delivery got = read_every_way(sound_then(after));
  EXPECT_EQ(got.packets.size(), 1u);
  EXPECT_THAT(got.damage, HasSubstr(what));
  EXPECT_THAT(got.damage, HasSubstr("at packet 2, byte offset 1"));
}

TEST(PcapngDamage, ALengthThatIsTooSmallOrNotAMultipleOfFour) {
  expect_damage(Writer(Order::little).put(6u).put(8u).put(payload(100)).bytes, "a length of 8 bytes");
  expect_damage(Writer(Order::little).put(6u).put(28u).put(payload(100)).bytes, "a length of 28 bytes");
  expect_damage(Writer(Order::little).put(77u).put(101u).put(payload(100)).bytes, "a length of 101 bytes");
}

TEST(PcapngDamage, TwoLengthsThatDiffer) {
  Bytes block = PcapngFile{}.packet(1, payload(60));
  block[block.size() - 4] ^= 4;
  expect_damage(block, "two lengths differ: 92 and 88");
  block = PcapngFile{}.block(77, payload(8));
  block[block.size() - 4] ^= 4;
  expect_damage(block, "two lengths differ: 20 and 16");
}

TEST(PcapngDamage, APacketOfAnInterfaceThatWasNotDescribed) {
  expect_damage(PcapngFile{}.packet(1, 1, payload(60), 60), "names interface 1, but only 1");
  Bytes new_section = PcapngFile{}.section();
  new_section += PcapngFile{}.packet(0, 1, payload(60), 60);
  expect_damage(new_section, "names interface 0, but only 0");
}

TEST(PcapngDamage, ACapturedLengthBeyondTheBlock) {
  Bytes block = PcapngFile{}.packet(1, payload(60));
  block[8 + 12] = 61;
  expect_damage(block, "claims 61 captured bytes, its block has 60");
}

TEST(PcapngDamage, ACapturedLengthBeyondTheLimit) {
  expect_damage(PcapngFile{}.packet(1, payload(262148)), "(limit 262144)");
}

TEST(PcapngDamage, ABlockThatClaimsMoreThanAnyPacketNeeds) {
  expect_damage(Writer(Order::little).put(6u).put(0x7ffffff0u).put(payload(100)).bytes, "claims 2147483632 bytes");
}

TEST(PcapngDamage, AnUnknownVersionOrByteOrderMagic) {
  expect_damage(PcapngFile{}.section(2, 0), "version 2.0");
  Bytes section = PcapngFile{}.section();
  section[8] ^= 1;
  expect_damage(section, "byte-order magic");
}

TEST(PcapngDamage, AnOptionThatReachesBeyondItsInterfaceBlock) {
  const Bytes option = Writer(Order::little).put(std::uint16_t{9}).put(std::uint16_t{50}).bytes;
  expect_damage(PcapngFile{}.interface(1, 0, option), "option 9 claims 50 bytes");
}

TEST(PcapngDamage, ACutAtAnyByteOfABlockKeepsThePacketsBeforeIt) {
  Bytes more = PcapngFile{}.packet(1, payload(60));
  more += PcapngFile{}.block(77, payload(20));
  const Bytes whole = sound_then(more);
  const std::size_t sound = sound_then({}).size();
  for (std::size_t size = sound + 1; size < whole.size(); ++size) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const Delivery got = read_as_file(cut);
    EXPECT_EQ(got.packets.size(), size < sound + 92 ? 1u : 2u) << size;
    EXPECT_EQ(got.damage.empty(), size == sound + 92) << size << ": " << got.damage;
    if (size % 8 == 0) {
      EXPECT_EQ(read_as_stream(cut, 1), got) << size;
    }
  }
}

TEST(PcapngClock, PowersOfTenAndTwoAreExact) {
  EXPECT_EQ(PcapngClock(6).time_ns(1'234'567), 1'234'567'000u);
  EXPECT_EQ(PcapngClock(0).time_ns(12), 12 * kSecond);
  EXPECT_EQ(PcapngClock(12).time_ns(1'999), 1u);
  EXPECT_EQ(PcapngClock(19).time_ns(~std::uint64_t{0}), 1'844'674'407u);
  EXPECT_EQ(PcapngClock(0x80 | 32).time_ns((std::uint64_t{7} << 32) + (1u << 31)), 7 * kSecond + 500'000'000);
  EXPECT_EQ(PcapngClock(0x80 | 30).time_ns((1u << 30) - 1), 999'999'999u);
  EXPECT_EQ(PcapngClock(9, -1).time_ns(kSecond + 5), 5u);
}

TEST(PcapngClock, HostileValuesAreClampedNotUndefined) {
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min(), kMax = std::numeric_limits<std::int64_t>::max();
  for (unsigned resolution = 0; resolution < 256; ++resolution) {
    const auto byte = static_cast<std::uint8_t>(resolution);
    EXPECT_EQ(PcapngClock(byte, kMin).time_ns(5), 0u);
    EXPECT_EQ(PcapngClock(byte, kMax).time_ns(~std::uint64_t{0}), ~std::uint64_t{0});
  }
  EXPECT_EQ(PcapngClock(0).time_ns(~std::uint64_t{0}), ~std::uint64_t{0});
  EXPECT_EQ(PcapngClock(127).time_ns(~std::uint64_t{0}), 0u);
  EXPECT_EQ(PcapngClock(0xff).time_ns(~std::uint64_t{0}), 0u);
  EXPECT_EQ(PcapngClock(6, -10).time_ns(0), 0u);
}

TEST(Pcapng, LossesAreTheLargerOfWhatPacketsSayAndWhatIsSummedUp) {
  constexpr std::uint16_t kDropCount = 4, kInterfaceDropped = 5, kSystemDropped = 7;
  for (const Order order : {Order::little, Order::big}) {
    const PcapngFile file{.order = order};
    const auto lost = [&](std::initializer_list<Bytes> blocks) {
      Bytes bytes = file.section();
      bytes += file.interface(1);
      bytes += file.interface(1);
      for (const Bytes& block : blocks) bytes += block;
      const Delivery got = read_every_way(bytes);
      EXPECT_EQ(got.damage, "");
      return got.lost;
    };
    const auto packet = [&](std::uint64_t drops, std::size_t bytes = 8) {
      return file.packet_with(file.option(kDropCount, drops), payload(bytes));
    };
    Bytes sums = file.option(kInterfaceDropped, 3);
    sums += file.option(kSystemDropped, 2);
    EXPECT_EQ(lost({file.packet(0, payload(9))}), std::nullopt) << "it does not say";
    EXPECT_EQ(lost({packet(0)}), 0u);
    EXPECT_EQ(lost({packet(2, 9), packet(3, 7)}), 5u) << "behind frames that are filled up";
    EXPECT_EQ(lost({packet(5), file.statistics(sums)}), 5u) << "the same five";
    EXPECT_EQ(lost({packet(2), file.statistics(sums), file.statistics(sums)}), 5u);
    EXPECT_EQ(lost({packet(7), file.statistics(sums), file.statistics(sums, 1)}), 12u) << "of two interfaces";
    EXPECT_EQ(lost({file.statistics(sums), file.section(), file.interface(1), file.statistics(sums)}), 10u);
    EXPECT_EQ(lost({file.statistics(sums, 7)}), std::nullopt) << "of an interface that there is not";
    EXPECT_EQ(lost({packet(2), file.block(5, {}), packet(3)}), 5u) << "statistics without a body";
    EXPECT_EQ(lost({file.obsolete_packet(0, 0, payload(8), 4), file.obsolete_packet(0, 0, payload(8), 0xffff)}), 4u);
    EXPECT_EQ(lost({packet(~std::uint64_t{0}), packet(9)}), std::uint64_t{1} << 56) << "no more than adds up";
    EXPECT_EQ(lost({file.packet_with({1, 2, 3}), file.packet_with(Bytes(4, 0xff))}), std::nullopt) << "garbage";
  }
}

}  // namespace
}  // namespace parshall::testing
