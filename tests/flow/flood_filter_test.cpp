// SPDX-License-Identifier: Apache-2.0
#include "pipeline/flow/flood_filter.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "facts.hpp"

namespace parshall {
namespace {

using namespace testing;

PacketFacts packet(std::uint64_t hash, std::uint32_t wire_bytes = 60, std::uint64_t time_ns = 1) {
  return facts_of(
      key_of(1, false), hash,
      {.time_ns = time_ns, .ip_bytes = wire_bytes < 14 ? wire_bytes : wire_bytes - 14, .wire_bytes = wire_bytes});
}

constexpr std::uint64_t kLine = 1ull << 47;  ///< from a line's hashes to those of the next one

TEST(FloodFilter, KeepsAFlowOutUntilItHasShownItsBytesAndNeverAgain) {
  FloodFilter filter(128);
  EXPECT_TRUE(filter.keeps_out(packet(7, 60, 50)));
  EXPECT_TRUE(filter.keeps_out(packet(7, 67, 40)));
  EXPECT_EQ(filter.waiting_flows(), 1u);
  EXPECT_FALSE(filter.keeps_out(packet(7, 1, 60))) << "this one makes it 128";
  EXPECT_FALSE(filter.keeps_out(packet(7, 60, 70)));
  EXPECT_EQ(filter.waiting_flows(), 0u);
  const KeptOut& kept = filter.kept();
  EXPECT_EQ(kept.packets, 2u);
  EXPECT_EQ(kept.wire_bytes, 127u);
  EXPECT_EQ(kept.ip_bytes, 127u - 2 * 14);
  EXPECT_EQ(kept.first_ns, 40u);
  EXPECT_EQ(kept.last_ns, 50u);
}

TEST(FloodFilter, APacketOfEnoughBytesIsLetInAtOnce) {
  FloodFilter filter(128);
  EXPECT_FALSE(filter.keeps_out(packet(7, 128)));
  EXPECT_FALSE(filter.keeps_out(packet(8, std::numeric_limits<std::int32_t>::max())));
  EXPECT_EQ(filter.kept().packets, 0u);
  EXPECT_EQ(filter.waiting_flows(), 0u);
}

TEST(FloodFilter, TheBytesOfAFlowNeverWrap) {
  FloodFilter filter(FloodFilter::kMostBytes);
  EXPECT_TRUE(filter.keeps_out(packet(7, FloodFilter::kMostBytes - 1)));
  for (int i = 0; i < 5000; ++i) ASSERT_FALSE(filter.keeps_out(packet(7, std::numeric_limits<std::int32_t>::max())));
}

/// The hash whose tag is 0 finds the line as it was made.
TEST(FloodFilter, FlowsOfAllTagsAndLinesAreToldApart) {
  FloodFilter filter(128);
  for (const std::uint64_t line : {0u, 1u, 77u, (1u << 17) - 1})
    for (const std::uint64_t tag : {0u, 1u, ~0u, 1u << 31})
      EXPECT_TRUE(filter.keeps_out(packet(line * kLine | tag, 100)));
  EXPECT_EQ(filter.waiting_flows(), 16u);
  EXPECT_FALSE(filter.keeps_out(packet(77 * kLine, 100)));
  EXPECT_EQ(filter.waiting_flows(), 15u);
}

TEST(FloodFilter, TheOldestOfALineMakesRoomHoweverOftenItWasSeen) {
  FloodFilter filter(1000);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(filter.keeps_out(packet(0, 300)));
  for (std::uint64_t tag = 1; tag < 8; ++tag) EXPECT_TRUE(filter.keeps_out(packet(tag)));
  EXPECT_FALSE(filter.keeps_out(packet(0, 300))) << "eight have room";
  EXPECT_TRUE(filter.keeps_out(packet(8)));
  EXPECT_TRUE(filter.keeps_out(packet(0, 900))) << "the ninth took its place";
  EXPECT_TRUE(filter.keeps_out(packet(2, 900))) << "and it the next one's";
  EXPECT_FALSE(filter.keeps_out(packet(3, 940)));
}

TEST(FloodFilter, AMillionFlowsOfOnePacketAreAllKeptOut) {
  FloodFilter filter(128);
  SplitMix64 random(5);
  for (int i = 0; i < 1 << 20; ++i) ASSERT_TRUE(filter.keeps_out(packet(random())));
  EXPECT_EQ(filter.kept().packets, 1u << 20);
  EXPECT_EQ(filter.waiting_flows(), 1u << 20);
}

}  // namespace
}  // namespace parshall
