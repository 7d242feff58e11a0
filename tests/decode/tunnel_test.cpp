// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "frames.hpp"

namespace parshall::testing {
namespace {

const Bytes kInside = ipv4(17, udp(1000, 53), 9);
const Bytes kInside6 = ipv6_packet(17, udp(1000, 53), 9);
const Bytes kFrame = ethernet(0x0800, kInside);
const std::string kFlow = "17 10.0.0.9:1000 > 10.0.1.9:53";
const std::string kFlow6 = "17 fd00::9:1000 > fd01::9:53";

std::string inner_of(const Bytes& packet) { return show(decode(LinkType::raw, packet, IpHeader::innermost)); }
std::string outer_of(const Bytes& packet) { return show(decode(LinkType::raw, packet, IpHeader::outermost)); }

TEST(Tunnel, TheOutermostHeaderIsNotAffectedByWhatItCarries) {
  EXPECT_EQ(outer_of(ipv4(4, kInside)), "4 10.0.0.1:0 > 10.0.1.1:0");
  EXPECT_EQ(outer_of(ipv4(17, udp(5000, 4789, join({{8, 0, 0, 0, 0, 0, 1, 0}, kFrame})))),
            "17 10.0.0.1:5000 > 10.0.1.1:4789");
}

TEST(Tunnel, IpInIpOfEveryPair) {
  EXPECT_EQ(inner_of(ipv4(4, kInside)), kFlow);
  EXPECT_EQ(inner_of(ipv4(41, kInside6)), kFlow6);
  EXPECT_EQ(inner_of(ipv6_packet(4, kInside)), kFlow);
  EXPECT_EQ(inner_of(ipv6_packet(41, kInside6)), kFlow6);
  EXPECT_EQ(inner_of(ipv4(4, ipv4(41, ipv6_packet(4, kInside), 3))), kFlow) << "three tunnels";
  EXPECT_EQ(inner_of(ipv4(51, join({{4, 4}, Bytes(22), kInside}))), kFlow) << "behind an authentication header";
}

TEST(Tunnel, BytesAreTheInnerHeadersAndWireBytesTheWholeFrames) {
  const Decoded decoded = decode(LinkType::raw, ipv4(4, kInside), IpHeader::innermost);
  EXPECT_EQ(decoded.facts.ip_bytes(), kInside.size());
  EXPECT_EQ(decoded.facts.wire_bytes(), kInside.size() + 20);
}

TEST(Tunnel, GreInItsForms) {
  EXPECT_EQ(inner_of(ipv4(47, join({{0, 0, 8, 0}, kInside}))), kFlow);
  EXPECT_EQ(inner_of(ipv4(47, join({{0xb0, 0, 0x86, 0xdd}, Bytes(12), kInside6}))), kFlow6)
      << "checksum, key, sequence";
  EXPECT_EQ(inner_of(ipv4(47, join({{0x40, 0, 8, 0}, Bytes(4), {0, 0, 0, 4, 1, 2, 3, 4}, Bytes(4), kInside}))), kFlow)
      << "routing";
  EXPECT_EQ(inner_of(ipv4(47, join({{0x20, 0, 0x65, 0x58}, Bytes(4), kFrame}))), kFlow) << "Ethernet";
  EXPECT_EQ(inner_of(ipv4(47, join({{0x30, 0x81, 0x88, 0x0b}, Bytes(12), {0xff, 3, 0, 0x21}, kInside}))), kFlow)
      << "PPTP";
  EXPECT_EQ(inner_of(ipv4(47, join({{0, 0, 0x88, 0xbe}, kFrame}))), kFlow) << "ERSPAN I";
  EXPECT_EQ(inner_of(ipv4(47, join({{0x10, 0, 0x88, 0xbe}, Bytes(4), {0x10}, Bytes(7), kFrame}))), kFlow)
      << "ERSPAN II";
  EXPECT_EQ(inner_of(ipv4(47, join({{0x10, 0, 0x22, 0xeb}, Bytes(4), {0x20}, Bytes(11), kFrame}))), kFlow)
      << "ERSPAN III";
  EXPECT_EQ(inner_of(ipv4(47, join({{0x10, 0, 0x22, 0xeb}, Bytes(4), {0x20}, Bytes(10), {1}, Bytes(8), kFrame}))),
            kFlow);
  EXPECT_EQ(inner_of(ipv4(47, join({{0, 0, 0x88, 0x3e}, Bytes(4), kInside}))), kFlow) << "WCCP 2";
  EXPECT_EQ(inner_of(ipv4(47, join({{0, 0, 0x88, 0x47}, {0, 0, 1, 64}, kInside}))), kFlow) << "MPLS";
}

TEST(Tunnel, UdpTunnels) {
  const auto over_udp = [](unsigned port, const Bytes& head, const Bytes& inside) {
    return inner_of(ipv4(17, udp(50000, port, join({head, inside}))));
  };
  EXPECT_EQ(over_udp(4789, {8, 0, 0, 0, 0, 0, 1, 0}, kFrame), kFlow);
  EXPECT_EQ(over_udp(4790, {0x0c, 0, 0, 2, 0, 0, 1, 0}, kInside6), kFlow6);
  EXPECT_EQ(over_udp(6081, {0x01, 0, 0x65, 0x58, 0, 0, 1, 0, 0, 0, 0, 0}, kFrame), kFlow);
  EXPECT_EQ(over_udp(6081, {0x00, 0, 0x08, 0x00, 0, 0, 1, 0}, kInside), kFlow);
  EXPECT_EQ(over_udp(2152, {0x30, 0xff, 0, 44, 0, 0, 0, 1}, kInside), kFlow);
  EXPECT_EQ(over_udp(2152, {0x34, 0xff, 0, 44, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0, 9, 0}, kInside6), kFlow6)
      << "extension";
  EXPECT_EQ(over_udp(3544, {}, kInside6), kFlow6);
  EXPECT_EQ(over_udp(3544, {0, 1, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 1, 2, 3, 4, 5, 6}, kInside6), kFlow6);
  EXPECT_EQ(over_udp(1701, {0x40, 2, 0, 99, 0, 1, 0, 2, 0xff, 3, 0, 0x21}, kInside), kFlow);
  EXPECT_EQ(over_udp(6635, {0, 0, 1, 64}, kInside), kFlow);
  EXPECT_EQ(over_udp(4341, Bytes(8), kInside), kFlow);
}

TEST(Tunnel, WhatOnlyLooksLikeATunnelIsLeftAlone) {
  EXPECT_EQ(inner_of(ipv4(17, udp(1, 4789, join({Bytes(8), kFrame})))), "17 10.0.0.1:1 > 10.0.1.1:4789")
      << "no VNI flag";
  EXPECT_EQ(inner_of(ipv4(17, udp(4789, 1, join({{8, 0, 0, 0, 0, 0, 1, 0}, kFrame})))),
            "17 10.0.0.1:4789 > 10.0.1.1:1");
  EXPECT_EQ(inner_of(ipv4(17, udp(1, 2152, join({{0x30, 1, 0, 44, 0, 0, 0, 1}, kInside})))),
            "17 10.0.0.1:1 > 10.0.1.1:2152")
      << "GTP echo";
  EXPECT_EQ(inner_of(ipv4(1, join({{3, 1, 0, 0, 0, 0, 0, 0}, kInside}))), "1 10.0.0.1:0 > 10.0.1.1:0")
      << "quoted in ICMP";
  EXPECT_EQ(inner_of(ipv4(4, kInside, 1, 1)), "4 10.0.0.1:0 > 10.0.1.1:0") << "a later fragment";
}

TEST(Tunnel, ACutOrBadInnerHeaderLeavesTheLastGoodOne) {
  const Bytes packet = ipv4(4, ipv4(41, kInside6, 3));
  for (std::size_t captured = 20; captured < packet.size(); ++captured) {
    const Decoded decoded = decode_cut(LinkType::raw, packet, captured, IpHeader::innermost);
    EXPECT_EQ(decoded.facts.key.protocol, captured < 40 ? 4 : captured < 80 ? 41 : 17) << captured;
  }
  Bytes bad = ipv4(4, kInside);
  bad[20] = 0x41;
  EXPECT_EQ(inner_of(bad), "4 10.0.0.1:0 > 10.0.1.1:0");
}

TEST(Tunnel, WhatLiesBehindTheOuterDatagramsEndIsNotPartOfTheTunnel) {
  Bytes packet = ipv4(4, kInside);
  packet[3] = 39;
  EXPECT_EQ(inner_of(packet), "4 10.0.0.1:0 > 10.0.1.1:0") << "the inner header is not whole";
  packet[3] = 43;
  EXPECT_EQ(inner_of(packet), "17 10.0.0.9:0 > 10.0.1.9:0") << "its ports are not";
}

TEST(Tunnel, NestingIsFollowedToABound) {
  Bytes packet = kInside;
  for (int depth = 0; depth < 300; ++depth) packet = ipv4(4, packet, 3);
  EXPECT_EQ(inner_of(packet), "4 10.0.0.3:0 > 10.0.1.3:0");
}

}  // namespace
}  // namespace parshall::testing
