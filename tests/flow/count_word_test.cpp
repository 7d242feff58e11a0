// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "pipeline/decode/facts.hpp"

namespace parshall {
namespace {

constexpr std::uint32_t kIp[] = {0, 1, 20, 46, 1500, 65'535, 65'536, 131'071, (1u << 22) - 2, (1u << 22) - 1};
constexpr std::uint32_t kExtra[] = {0, 1, 14, 18, 8190, 8191};

TEST(CountWord, OnePacketReadsBackAsItWentIn) {
  for (const std::uint32_t ip : kIp)
    for (const std::uint32_t extra : kExtra)
      for (const std::uint32_t flags : {0u, 1u, 0xFFu, 0x100u, 0x1FFu, 0xFFFFu}) {
        const CountWord word = CountWord::packet(ip, ip + extra, flags);
        ASSERT_FALSE(word.wide());
        ASSERT_FALSE(word.overflowed());
        ASSERT_EQ(word.packets(), 1u);
        ASSERT_EQ(word.ip_bytes(), ip);
        ASSERT_EQ(word.extra_bytes(), extra);
        ASSERT_EQ(word.tcp_flags(), flags & 0x1FF);
      }
}

TEST(CountWord, LengthsThatDoNotFitMakeItWideAndStillReadBack) {
  for (const std::uint32_t ip : kIp)
    for (const std::int64_t extra : {std::int64_t{8192}, std::int64_t{8193}, std::int64_t{65'535},
                                     std::int64_t{1} << 30, std::int64_t{-1}, std::int64_t{-20}}) {
      const std::int64_t wire = ip + extra;
      if (wire < 0) continue;
      const CountWord word = CountWord::packet(ip, static_cast<std::uint32_t>(wire), 0x1FF);
      ASSERT_TRUE(word.wide());
      ASSERT_TRUE(word.overflowed());
      ASSERT_EQ(word.packets(), 1u);
      ASSERT_EQ(word.ip_bytes(), ip);
      ASSERT_EQ(word.extra_bytes(), extra);
      ASSERT_EQ(word.tcp_flags(), 0x1FF);
    }
}

TEST(CountWord, OnlyIpLengthsBeyond4MegabytesAreShortened) {
  EXPECT_EQ(CountWord::packet((1u << 22) - 1, (1u << 22) - 1, 0).ip_bytes(), (1u << 22) - 1);
  EXPECT_EQ(CountWord::packet(1u << 22, 1u << 22, 0).ip_bytes(), (1u << 22) - 1);
  EXPECT_EQ(CountWord::packet(~0u, 100, 0).ip_bytes(), (1u << 22) - 1);
}

/// Adds the packet until the sum carries, and checks every sum before that against plain numbers.
void add_until_it_carries(std::uint32_t ip, std::uint32_t extra, std::uint64_t at_least) {
  CountWord word = CountWord::packet(ip, ip + extra, 0x55);
  const CountWord packet = CountWord::packet(ip, ip + extra, 0x1AA);
  for (std::uint64_t packets = 1;; ++packets) {
    ASSERT_EQ(word.packets(), packets);
    ASSERT_EQ(word.ip_bytes(), packets * ip);
    ASSERT_EQ(word.extra_bytes(), static_cast<std::int64_t>(packets * extra));
    ASSERT_EQ(word.tcp_flags(), packets == 1 ? 0x55 : 0x1FF);
    word = word.plus(packet);
    if (word.overflowed()) {
      ASSERT_GE(packets, at_least);
      return;
    }
    ASSERT_LE(packets, 1u << 14) << "the packet count overflowed without a carry";
  }
}

TEST(CountWord, NoSumIsWrongBeforeItCarries) {
  for (const std::uint32_t ip : kIp)
    for (const std::uint32_t extra : kExtra) {
      SCOPED_TRACE(::testing::Message() << ip << " + " << extra);
      add_until_it_carries(ip, extra, 1);
      if (HasFatalFailure()) return;
    }
  add_until_it_carries(46, 0, 4095);
}

TEST(CountWord, TheFullestWordThatDoesNotCarryTakesTheLargestPacketWithoutLosingABit) {
  const auto fullest = [](std::uint64_t packets, std::uint64_t extra, std::uint64_t ip) {
    return CountWord(packets << CountWord::kPacketShift | extra << CountWord::kExtraShift | ip << CountWord::kIpShift |
                     0x1FF);
  };
  const CountWord largest = CountWord::packet((1u << 22) - 1, (1u << 22) - 1 + 8191, 0x1FF);
  for (const std::uint64_t packets : {0ull, 1ull, (1ull << 12) - 1})
    for (const std::uint64_t extra : {0ull, (1ull << 13) - 1})
      for (const std::uint64_t ip : {0ull, (1ull << 26) - 1}) {
        const CountWord word = fullest(packets, extra, ip);
        ASSERT_FALSE(word.overflowed());
        const CountWord sum = word.plus(largest);
        const std::uint64_t true_ip = ip + (1u << 22) - 1, true_extra = extra + 8191, true_packets = packets + 1;
        const bool fits = true_packets < 1u << 12 && true_extra < 1u << 13 && true_ip < 1u << 26;
        EXPECT_EQ(sum.overflowed(), !fits) << packets << ' ' << extra << ' ' << ip;
        if (fits) {
          EXPECT_EQ(sum.packets(), true_packets);
          EXPECT_EQ(sum.extra_bytes(), static_cast<std::int64_t>(true_extra));
          EXPECT_EQ(sum.ip_bytes(), true_ip);
        }
        EXPECT_EQ(sum.tcp_flags(), 0x1FF) << "flags must never carry into the lengths";
      }
}

TEST(CountWord, IpBytesCannotOverflowBeforeSomeCountCarries) {
  for (const std::uint32_t ip : {65'535u, 1u << 16, 1u << 20, (1u << 22) - 1}) {
    CountWord word = CountWord::packet(ip, ip, 0);
    const CountWord packet = word;
    std::uint64_t truth = ip;
    for (int i = 0; i < 10'000; ++i) {
      const CountWord next = word.plus(packet);
      truth += ip;
      if (next.overflowed()) break;
      ASSERT_EQ(next.ip_bytes(), truth) << "after " << i + 2 << " packets of " << ip << " IP bytes";
      word = next;
    }
  }
}

TEST(CountWord, AWidePacketAlwaysCarriesWhateverItIsAddedTo) {
  for (const std::uint64_t packets : {0ull, 1ull, (1ull << 12) - 1})
    for (const std::uint32_t wire : {0u, 1u, 0x7FFF'FFFFu, 0xFFFF'FFFFu}) {
      const CountWord word(packets << CountWord::kPacketShift | ((1ull << 13) - 1) << CountWord::kExtraShift |
                           ((1ull << 26) - 1) << CountWord::kIpShift | CountWord::kFlagMask);
      ASSERT_FALSE(word.overflowed());
      EXPECT_TRUE(word.plus(CountWord::packet((1u << 22) - 1, wire, 0x1FF)).wide());
    }
}

}  // namespace
}  // namespace parshall
