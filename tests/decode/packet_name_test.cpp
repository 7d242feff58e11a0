// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/packet_name.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "pipeline/decode/fast_path.hpp"

namespace parshall {
namespace {

constexpr std::size_t kIpAt = 14, kTransportAt = 34;

/// An Ethernet frame with an IPv4 datagram of `payload` bytes behind the transport header; each byte differs.
std::vector<std::uint8_t> frame_of(std::uint8_t protocol, std::size_t payload) {
  const std::size_t transport = protocol == 6 ? 20 : 8, ip_bytes = 20 + transport + payload;
  std::vector<std::uint8_t> frame(kIpAt + std::max<std::size_t>(ip_bytes, 46));
  for (std::size_t i = 0; i < kIpAt + ip_bytes; ++i) frame[i] = static_cast<std::uint8_t>(7 * i + 3);
  frame[12] = 8, frame[13] = 0, frame[kIpAt] = 0x45;
  frame[kIpAt + 2] = static_cast<std::uint8_t>(ip_bytes >> 8), frame[kIpAt + 3] = static_cast<std::uint8_t>(ip_bytes);
  frame[kIpAt + 6] = frame[kIpAt + 7] = 0;
  frame[kIpAt + 9] = protocol;
  if (protocol == 6) frame[kTransportAt + 12] = 0x50;
  return frame;
}

RawPacket packet_of(const std::vector<std::uint8_t>& frame) {
  const auto bytes = static_cast<std::uint32_t>(frame.size());
  return {.data = frame.data(), .captured_bytes = bytes, .wire_bytes = bytes};
}

std::uint64_t name_of(const std::vector<std::uint8_t>& frame, std::uint64_t seed = 1) {
  return PacketNames(seed).of(packet_of(frame), IpHeader::outermost);
}

TEST(PacketNames, AreTheSameOnTheFastPath) {
  for (const std::uint8_t protocol : {std::uint8_t{6}, std::uint8_t{17}})
    for (std::size_t payload = 0; payload < 40; ++payload) {
      const auto frame = frame_of(protocol, payload);
      FastHeader header;
      ASSERT_TRUE(decode_fast(packet_of(frame), header));
      EXPECT_EQ(PacketNames(1).of_fast(packet_of(frame)), name_of(frame)) << int{protocol} << ", " << payload;
    }
}

TEST(PacketNames, AreTheSameOfATruncatedPacketAsFarAsItWasCaptured) {
  const auto frame = frame_of(17, 30);
  for (std::uint32_t captured = kFastPathBytes; captured < 53; ++captured) {
    RawPacket packet = packet_of(frame);
    packet.captured_bytes = captured;
    EXPECT_EQ(PacketNames(1).of_fast(packet), PacketNames(1).of(packet, IpHeader::outermost)) << captured;
  }
}

TEST(PacketNames, DoNotDependOnWhatChangesOnTheWay) {
  for (const std::uint8_t protocol : {std::uint8_t{6}, std::uint8_t{17}}) {
    const auto frame = frame_of(protocol, 30);
    const std::size_t checksum_at = kTransportAt + (protocol == 6 ? 16 : 6);
    // MAC addresses, DSCP, TTL, header checksum, addresses, ports, checksum
    for (const std::size_t at : {std::size_t{0}, std::size_t{6}, kIpAt + 1, kIpAt + 8, kIpAt + 10, kIpAt + 12,
                                 kIpAt + 16, kTransportAt, kTransportAt + 2, checksum_at}) {
      auto changed = frame;
      changed[at] ^= 0x55;
      EXPECT_EQ(name_of(changed), name_of(frame)) << int{protocol} << ", byte " << at;
    }
    auto tagged = frame;
    tagged.insert(tagged.begin() + 12, {0x81, 0, 0, 42});
    EXPECT_EQ(name_of(tagged), name_of(frame));
  }
}

TEST(PacketNames, DependOnWhatTellsPacketsApart) {
  const auto expect_other = [](const std::vector<std::uint8_t>& frame, std::initializer_list<std::size_t> places) {
    for (const std::size_t at : places) {
      auto changed = frame;
      changed[at] ^= 1;
      EXPECT_NE(name_of(changed), name_of(frame)) << "byte " << at;
    }
  };
  expect_other(frame_of(6, 10), {kIpAt + 4, kIpAt + 5, kTransportAt + 4, kTransportAt + 7, kTransportAt + 8,
                                 kTransportAt + 11, kTransportAt + 13, kTransportAt + 14, kTransportAt + 15});
  expect_other(frame_of(17, 20),
               {kIpAt + 4, kTransportAt + 8, kTransportAt + 15, kTransportAt + 16, kTransportAt + 18});
  expect_other(frame_of(1, 20), {kIpAt + 4, kTransportAt, kTransportAt + 4, kTransportAt + 11});
  EXPECT_NE(name_of(frame_of(6, 10), 1), name_of(frame_of(6, 10), 2));
}

TEST(PacketNames, DoNotDependOnPaddingOfShortFrames) {
  auto frame = frame_of(17, 4);
  const std::uint64_t name = name_of(frame);
  frame[kTransportAt + 12] = 0x77;
  EXPECT_EQ(name_of(frame), name);
  EXPECT_EQ(PacketNames(1).of_fast(packet_of(frame)), name);
}

/// Taps may have different CPUs.
TEST(PacketNames, AreTheSameOnEveryCpu) {
  EXPECT_EQ(name_of(frame_of(6, 10)), 8691445875948815574u);
  EXPECT_EQ(name_of(frame_of(17, 30)), 3577856592961354871u);
}

}  // namespace
}  // namespace parshall
