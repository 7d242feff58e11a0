// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/dscp.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "base/random.hpp"
#include "frames.hpp"

namespace parshall::testing {
namespace {

constexpr std::size_t kIpAt = 14;

unsigned word_at(const Bytes& bytes, std::size_t at) { return bytes[at] << 8 | bytes[at + 1]; }

/// RFC 791 over the header as it is; 0 where its checksum is right.
unsigned checksum_of(const Bytes& frame, std::size_t at = kIpAt) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < (frame[at] & 15u) * 4; i += 2) sum += word_at(frame, at + i);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return ~sum & 0xffff;
}

void set_checksum(Bytes& frame, std::size_t at = kIpAt) {
  frame[at + 10] = frame[at + 11] = 0;
  const unsigned checksum = checksum_of(frame, at);
  frame[at + 10] = static_cast<std::uint8_t>(checksum >> 8);
  frame[at + 11] = static_cast<std::uint8_t>(checksum);
}

/// From memory of exactly that size.
bool write(Bytes& frame, Dscp dscp) {
  const auto block = std::make_unique<std::uint8_t[]>(frame.size());
  std::ranges::copy(frame, block.get());
  const bool written = write_dscp(block.get(), frame.size(), LinkType::ethernet, dscp);
  frame.assign(block.get(), block.get() + frame.size());
  return written;
}

TEST(Dscp, OfIpv4KeepsEcnAndAllElseAndItsChecksumIsTheOneComputedAnew) {
  SplitMix64 random(1);
  for (int trial = 0; trial < 5000; ++trial) {
    Bytes frame = ethernet(0x0800, ipv4(17, udp(1000, 53)));
    const std::size_t options = 4 * random.below(11);
    frame.insert(frame.begin() + kIpAt + 20, options, static_cast<std::uint8_t>(random()));
    for (std::size_t i = 1; i < 20 + options; ++i) frame[kIpAt + i] = static_cast<std::uint8_t>(random());
    frame[kIpAt] = static_cast<std::uint8_t>(0x45 + options / 4);
    set_checksum(frame);
    for (unsigned dscp = 0; dscp < kDscps; ++dscp) {
      Bytes expected = frame, marked = frame;
      expected[kIpAt + 1] = static_cast<std::uint8_t>(dscp << 2 | (frame[kIpAt + 1] & 3));
      set_checksum(expected);
      ASSERT_TRUE(write(marked, static_cast<Dscp>(dscp)));
      ASSERT_EQ(marked, expected);
    }
  }
}

/// The identification field makes up for any checksum that is wanted.
TEST(Dscp, ChecksumsThatBecomeOrLeaveZeroAreRight) {
  for (unsigned id = 0; id <= 0xffff; ++id) {
    Bytes frame = ethernet(0x0800, ipv4(17, udp(1000, 53)));
    frame[kIpAt + 4] = static_cast<std::uint8_t>(id >> 8);
    frame[kIpAt + 5] = static_cast<std::uint8_t>(id);
    set_checksum(frame);
    for (const Dscp dscp : {Dscp{0}, Dscp{1}, Dscp{46}, Dscp{63}}) {
      Bytes expected = frame, marked = frame;
      expected[kIpAt + 1] = static_cast<std::uint8_t>(dscp << 2);
      set_checksum(expected);
      ASSERT_TRUE(write(marked, dscp));
      ASSERT_EQ(marked, expected) << id;
      ASSERT_TRUE(write(marked, 0));
      ASSERT_EQ(marked, frame) << id;
    }
  }
}

TEST(Dscp, AWrongChecksumStaysWrongByAsMuch) {
  SplitMix64 random(2);
  for (int trial = 0; trial < 100'000; ++trial) {
    Bytes frame = ethernet(0x0800, ipv4(17, udp(1000, 53)));
    frame[kIpAt + 10] = static_cast<std::uint8_t>(random());
    frame[kIpAt + 11] = static_cast<std::uint8_t>(random());
    const unsigned before = checksum_of(frame);
    ASSERT_TRUE(write(frame, static_cast<Dscp>(random.below(kDscps))));
    ASSERT_EQ(checksum_of(frame) % 0xffff, before % 0xffff);
  }
}

TEST(Dscp, TheCodePointThatIsThereChangesNothing) {
  for (const unsigned checksum : {0x0000u, 0xffffu, 0x1234u}) {
    Bytes frame = ethernet(0x0800, ipv4(17, udp(1000, 53)));
    frame[kIpAt + 1] = 46 << 2 | 1;
    frame[kIpAt + 10] = static_cast<std::uint8_t>(checksum >> 8);
    frame[kIpAt + 11] = static_cast<std::uint8_t>(checksum);
    const Bytes before = frame;
    EXPECT_TRUE(write(frame, 46));
    EXPECT_EQ(frame, before);
  }
}

TEST(Dscp, OfIpv6KeepsEcnAndTheFlowLabel) {
  for (unsigned tos = 0; tos < 256; ++tos)
    for (unsigned dscp = 0; dscp < kDscps; ++dscp) {
      Bytes frame = ethernet(0x86dd, ipv6_packet(17, udp(1000, 53)));
      frame[kIpAt] = static_cast<std::uint8_t>(0x60 | tos >> 4);
      frame[kIpAt + 1] = static_cast<std::uint8_t>((tos & 15) << 4 | 0x0a);
      frame[kIpAt + 2] = 0xbc;
      frame[kIpAt + 3] = 0xde;
      Bytes expected = frame;
      const unsigned traffic_class = dscp << 2 | (tos & 3);
      expected[kIpAt] = static_cast<std::uint8_t>(0x60 | traffic_class >> 4);
      expected[kIpAt + 1] = static_cast<std::uint8_t>((traffic_class & 15) << 4 | 0x0a);
      ASSERT_TRUE(write(frame, static_cast<Dscp>(dscp)));
      ASSERT_EQ(frame, expected);
    }
}

TEST(Dscp, IsWrittenBehindTagsLabelsAndPppoe) {
  const Bytes packet = ipv4(17, udp(1000, 53)), packet6 = ipv6_packet(17, udp(1000, 53));
  struct {
    Bytes head;
    unsigned type;
  } const links[] = {{{0x00, 0x05, 0x08, 0x00}, 0x8100},
                     {{0x00, 0x05, 0x81, 0x00, 0x00, 0x06, 0x08, 0x00}, 0x88a8},
                     {{0, 0, 0x11, 64}, 0x8847},
                     {{0x11, 0, 0, 1, 0, 80, 0, 0x21}, 0x8864}};
  for (const auto& [head, type] : links) {
    Bytes frame = ethernet(type, join({head, packet}));
    const std::size_t at = kIpAt + head.size();
    set_checksum(frame, at);
    ASSERT_TRUE(write(frame, 46));
    EXPECT_EQ(frame[at + 1], 46 << 2);
    EXPECT_EQ(checksum_of(frame, at), 0u);
  }
  Bytes tagged = ethernet(0x8100, join({{0x00, 0x05, 0x86, 0xdd}, packet6}));
  ASSERT_TRUE(write(tagged, 46));
  EXPECT_EQ(word_at(tagged, 18), 0x6b80u);
}

TEST(Dscp, OnlyTheOutermostHeaderOfATunnelIsWritten) {
  Bytes frame = ethernet(0x0800, ipv4(4, ipv4(17, udp(1000, 53))));
  set_checksum(frame);
  const Bytes inner(frame.begin() + kIpAt + 20, frame.end());
  ASSERT_TRUE(write(frame, 46));
  EXPECT_EQ(frame[kIpAt + 1], 46 << 2);
  EXPECT_EQ(Bytes(frame.begin() + kIpAt + 20, frame.end()), inner);
}

void expect_unchanged(const Bytes& frame) {
  Bytes marked = frame;
  EXPECT_FALSE(write(marked, 46));
  EXPECT_EQ(marked, frame);
}

TEST(Dscp, FramesWithACutHeaderStayAsTheyAre) {
  const Bytes ip4 = ethernet(0x0800, ipv4(17, udp(1000, 53))), ip6 = ethernet(0x86dd, ipv6_packet(17, udp(1000, 53)));
  for (std::size_t bytes = 0; bytes < kIpAt + 20; ++bytes) expect_unchanged({ip4.begin(), ip4.begin() + bytes});
  for (std::size_t bytes = 0; bytes < kIpAt + 40; ++bytes) expect_unchanged({ip6.begin(), ip6.begin() + bytes});
  Bytes whole(ip4.begin(), ip4.begin() + kIpAt + 20), whole6(ip6.begin(), ip6.begin() + kIpAt + 40);
  EXPECT_TRUE(write(whole, 46));
  EXPECT_TRUE(write(whole6, 46));
}

TEST(Dscp, FramesWithoutAnIpHeaderStayAsTheyAre) {
  expect_unchanged(ethernet(0x0806, Bytes(28)));
  expect_unchanged(ethernet(0x0800, join({{0x65, 0}, Bytes(40)})));
  expect_unchanged(ethernet(0x86dd, join({{0x45, 0}, Bytes(40)})));
  expect_unchanged(ethernet(40, {0x42, 0x42, 3, 0, 0, 0, 0, 0}));
}

TEST(Dscp, ASignedFrameStaysAsItIs) {
  expect_unchanged(ethernet(0x88e5, join({{0x20, 0}, Bytes(12), {8, 0}, ipv4(17, udp(1000, 53))})));
}

TEST(Dscp, NamesAreThoseOfTheRegistryAndNumbersThoseOfSixBits) {
  EXPECT_EQ(parse_dscp("EF"), 46);
  EXPECT_EQ(parse_dscp("ef"), 46);
  EXPECT_EQ(parse_dscp("Voice-Admit"), 44);
  EXPECT_EQ(parse_dscp("LE"), 1);
  EXPECT_EQ(parse_dscp("DF"), 0);
  for (unsigned group = 1; group <= 4; ++group)
    for (unsigned precedence = 1; precedence <= 3; ++precedence)
      EXPECT_EQ(parse_dscp("af" + std::to_string(group) + std::to_string(precedence)), 8 * group + 2 * precedence);
  for (unsigned selector = 0; selector < 8; ++selector)
    EXPECT_EQ(parse_dscp("cs" + std::to_string(selector)), 8 * selector);
  for (unsigned dscp = 0; dscp < kDscps; ++dscp) {
    EXPECT_EQ(parse_dscp(std::to_string(dscp)), dscp);
    EXPECT_EQ(parse_dscp(dscp_name(static_cast<Dscp>(dscp))), dscp);
  }
  for (const char* wrong : {"", "64", "-1", "+3", "3 ", " 3", "0x10", "AF14", "AF51", "CS8", "E", "EFF", "4294967342"})
    EXPECT_EQ(parse_dscp(wrong), std::nullopt) << wrong;
  EXPECT_EQ(dscp_name(46), "EF");
  EXPECT_EQ(dscp_name(0), "CS0");
  EXPECT_EQ(dscp_name(63), "63");
}

}  // namespace
}  // namespace parshall::testing
