// SPDX-License-Identifier: Apache-2.0
#include "engine/byte_sum.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace parshall {
namespace {

PacketFacts packet(std::uint32_t ip_bytes, std::uint32_t wire_bytes) {
  PacketFacts facts{};
  facts.counts = CountWord::packet(ip_bytes, wire_bytes, /*tcp_flags=*/0x1ff);
  return facts;
}

void expect_sum(const std::vector<PacketFacts>& group) {
  std::uint64_t ip = 0, wire = 0;
  for (const PacketFacts& facts : group) {
    ip += facts.ip_bytes();
    wire += facts.wire_bytes();
  }
  ByteSum sum;
  for (int times = 1; times <= 3; ++times) {
    sum.add(group);
    EXPECT_EQ(sum.ip_bytes(), times * ip);
    EXPECT_EQ(sum.wire_bytes(), times * wire);
  }
}

TEST(ByteSum, EightOfTheLongestFitTheWord) {
  constexpr std::uint32_t kMost = CountWord::kMaxIpBytes;
  for (std::size_t packets = 0; packets <= 8; ++packets)
    expect_sum(std::vector(packets, packet(kMost, kMost + CountWord::kMaxExtraBytes)));
}

TEST(ByteSum, IsThatOfEachPacketWhateverItsLength) {
  std::mt19937 random(1);
  for (int round = 0; round < 10'000; ++round) {
    std::vector<PacketFacts> group;
    for (std::size_t i = 1 + random() % 8; i > 0; --i) {
      const auto ip = static_cast<std::uint32_t>(random() >> (random() % 32));
      const auto wire = static_cast<std::uint32_t>(round % 2 == 0 ? ip + random() % 64 : random());
      group.push_back(packet(ip, wire));
    }
    expect_sum(group);
  }
}

}  // namespace
}  // namespace parshall
