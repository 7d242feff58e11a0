// SPDX-License-Identifier: Apache-2.0
#include "compare/packet_id.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

namespace parshall::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kEthernet = 14, kIp = 20, kTcp = 20;

/// An Ethernet frame with IPv4, TCP and 60 bytes of payload, all different.
Bytes tcp_frame() {
  Bytes frame(kEthernet + kIp + kTcp + 60);
  for (std::size_t i = 0; i < frame.size(); ++i) frame[i] = static_cast<std::uint8_t>(i * 7 + 1);
  frame[12] = 0x08, frame[13] = 0x00;
  frame[kEthernet] = 0x45;
  frame[kEthernet + 2] = 0, frame[kEthernet + 3] = static_cast<std::uint8_t>(frame.size() - kEthernet);
  frame[kEthernet + 6] = 0x40, frame[kEthernet + 7] = 0;
  frame[kEthernet + 9] = 6;
  frame[kEthernet + kIp + 12] = 0x50;
  return frame;
}

SeenPacket seen(const Bytes& frame, OnTheWay on_the_way = OnTheWay::forwarded, std::size_t captured = SIZE_MAX) {
  captured = std::min(captured, frame.size());
  const auto block = std::make_unique<std::uint8_t[]>(captured);  // nothing behind it can be read
  std::copy_n(frame.begin(), captured, block.get());
  SeenPacket packet;
  EXPECT_EQ(PacketIds(1, on_the_way)
                .read({.data = block.get(),
                       .time_ns = 5,
                       .captured_bytes = static_cast<std::uint32_t>(captured),
                       .wire_bytes = static_cast<std::uint32_t>(frame.size())},
                      packet),
            Verdict::counted);
  return packet;
}

/// Returns whether the id stays if this byte of the frame changes.
bool stays(std::size_t at, OnTheWay on_the_way = OnTheWay::forwarded) {
  Bytes changed = tcp_frame();
  changed[at] ^= 0x11;
  return seen(changed, on_the_way).id == seen(tcp_frame(), on_the_way).id;
}

TEST(PacketIds, WhatRoutersAndNicsChangeIsLeftOut) {
  for (std::size_t at = 0; at < 12; ++at) EXPECT_TRUE(stays(at)) << "MAC address, byte " << at;
  const std::size_t l4 = kEthernet + kIp;
  for (const std::size_t at : {kEthernet + 1, kEthernet + 8, kEthernet + 10, kEthernet + 11, l4 + 16, l4 + 17})
    EXPECT_TRUE(stays(at)) << at;  // DSCP and ECN, TTL, both checksums
}

TEST(PacketIds, WhatTellsPacketsApartIsNot) {
  const std::size_t l4 = kEthernet + kIp;
  for (std::size_t at = l4; at < l4 + 12; ++at) EXPECT_FALSE(stays(at)) << "ports or sequence numbers, byte " << at;
  for (const std::size_t at : {kEthernet + 4, kEthernet + 5, kEthernet + 12, kEthernet + 19, l4 + 13, l4 + 14, l4 + 15})
    EXPECT_FALSE(stays(at)) << at;  // identification, addresses, flags, window
  for (std::size_t i = 0; i < 32; ++i) EXPECT_FALSE(stays(l4 + kTcp + i)) << "payload, byte " << i;
  EXPECT_TRUE(stays(l4 + kTcp + 32));
}

TEST(PacketIds, AddressesAndPortsMayBeTranslated) {
  const std::size_t l4 = kEthernet + kIp;
  for (std::size_t at = kEthernet + 12; at < l4 + 4; ++at) EXPECT_TRUE(stays(at, OnTheWay::translated)) << at;
  EXPECT_FALSE(stays(l4 + 4, OnTheWay::translated));
}

TEST(PacketIds, TcpOptionsMayChange) {
  Bytes frame = tcp_frame();
  frame[kEthernet + kIp + 12] = 0x60;
  Bytes clamped = frame;
  clamped[kEthernet + kIp + kTcp + 2] ^= 0x11;  // in the option
  EXPECT_EQ(seen(frame).id, seen(clamped).id);
  EXPECT_NE(seen(frame).id, seen(tcp_frame()).id);  // the payload begins elsewhere
}

TEST(PacketIds, AShortCaptureIsToldFromAWholeOne) {
  const Bytes frame = tcp_frame();
  const std::size_t needed = kEthernet + kIp + kTcp + 32;
  EXPECT_FALSE(seen(frame, OnTheWay::forwarded, needed).is_cut);
  EXPECT_EQ(seen(frame, OnTheWay::forwarded, needed).id, seen(frame).id);
  for (std::size_t captured = kEthernet + kIp; captured < needed; ++captured) {
    EXPECT_TRUE(seen(frame, OnTheWay::forwarded, captured).is_cut) << captured;
    EXPECT_NE(seen(frame, OnTheWay::forwarded, captured).id, seen(frame).id) << captured;
  }
}

TEST(PacketIds, LaterFragmentsHaveNone) {
  Bytes first = tcp_frame(), later = tcp_frame();
  first[kEthernet + 6] = 0x20;
  later[kEthernet + 6] = 0, later[kEthernet + 7] = 9;
  EXPECT_TRUE(seen(first).has_id);
  EXPECT_EQ(seen(first).id, seen(tcp_frame()).id);  // fragmented on the way
  EXPECT_FALSE(seen(later).has_id);
}

TEST(PacketIds, PaddingOfShortFramesIsNotContents) {
  Bytes frame = tcp_frame();
  frame.resize(kEthernet + kIp + kTcp + 2);
  frame[kEthernet + 3] = static_cast<std::uint8_t>(frame.size() - kEthernet);
  Bytes padded = frame;
  padded.resize(60, 0xee);
  EXPECT_EQ(seen(frame).id, seen(padded).id);
  EXPECT_FALSE(seen(frame).is_cut);
}

}  // namespace
}  // namespace parshall::testing
