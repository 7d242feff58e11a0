// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "frames.hpp"

namespace parshall::testing {
namespace {

const Bytes kInside = ipv4(17, udp(1000, 53), 9);
const Bytes kInside6 = ipv6_packet(17, udp(1000, 53), 9);
const Bytes kFrame = ethernet(0x0800, kInside);
const std::string kInner = "17 10.0.0.9:1000 > 10.0.1.9:53";
const std::string kInner6 = "17 fd00::9:1000 > fd01::9:53";

std::string inner_of(const Bytes& packet) { return show(decode(LinkType::raw, packet, IpHeader::innermost)); }
std::string outer_of(const Bytes& packet) { return show(decode(LinkType::raw, packet, IpHeader::outermost)); }

TEST(Tunnel, TheOutermostHeaderIsNotAffectedByWhatItCarries) {
  EXPECT_EQ(outer_of(ipv4(4, kInside)), "4 10.0.0.1:0 > 10.0.1.1:0");
  EXPECT_EQ(outer_of(ipv4(17, udp(5000, 4789, join({{8, 0, 0, 0, 0, 0, 1, 0}, kFrame})))),
            "17 10.0.0.1:5000 > 10.0.1.1:4789");
}

TEST(Tunnel, IpInIpOfEveryPair) {
  EXPECT_EQ(inner_of(ipv4(4, kInside)), kInner);
  EXPECT_EQ(inner_of(ipv4(41, kInside6)), kInner6);
  EXPECT_EQ(inner_of(ipv6_packet(4, kInside)), kInner);
  EXPECT_EQ(inner_of(ipv6_packet(41, kInside6)), kInner6);
  EXPECT_EQ(inner_of(ipv4(4, ipv4(41, ipv6_packet(4, kInside), 3))), kInner) << "three tunnels";
  EXPECT_EQ(inner_of(ipv4(51, join({{4, 4}, Bytes(22), kInside}))), kInner) << "behind an authentication header";
}

TEST(Tunnel, BytesAreTheInnerHeadersAndWireBytesTheWholeFrames) {
  const Decoded decoded = decode(LinkType::raw, ipv4(4, kInside), IpHeader::innermost);
  EXPECT_EQ(decoded.facts.ip_bytes(), kInside.size());
  EXPECT_EQ(decoded.facts.wire_bytes(), kInside.size() + 20);
}

TEST(Tunnel, GreInItsForms) {
  EXPECT_EQ(inner_of(ipv4(47, join({{0, 0, 8, 0}, kInside}))), kInner);
  EXPECT_EQ(inner_of(ipv4(47, join({{0xb0, 0, 0x86, 0xdd}, Bytes(12), kInside6}))), kInner6)
      << "checksum, key, sequence";
  EXPECT_EQ(inner_of(ipv4(47, join({{0x40, 0, 8, 0}, Bytes(4), {0, 0, 0, 4, 1, 2, 3, 4}, Bytes(4), kInside}))), kInner)
      << "routing";
  EXPECT_EQ(inner_of(ipv4(47, join({{0x20, 0, 0x65, 0x58}, Bytes(4), kFrame}))), kInner) << "Ethernet";
  EXPECT_EQ(inner_of(ipv4(47, join({{0x30, 0x81, 0x88, 0x0b}, Bytes(12), {0xff, 3, 0, 0x21}, kInside}))), kInner)
      << "PPTP";
  EXPECT_EQ(inner_of(ipv4(47, join({{0, 0, 0x88, 0xbe}, kFrame}))), kInner) << "ERSPAN I";
  EXPECT_EQ(inner_of(ipv4(47, join({{0x10, 0, 0x88, 0xbe}, Bytes(4), {0x10}, Bytes(7), kFrame}))), kInner)
      << "ERSPAN II";
  EXPECT_EQ(inner_of(ipv4(47, join({{0x10, 0, 0x22, 0xeb}, Bytes(4), {0x20}, Bytes(11), kFrame}))), kInner)
      << "ERSPAN III";
  EXPECT_EQ(inner_of(ipv4(47, join({{0x10, 0, 0x22, 0xeb}, Bytes(4), {0x20}, Bytes(10), {1}, Bytes(8), kFrame}))),
            kInner);
  EXPECT_EQ(inner_of(ipv4(47, join({{0, 0, 0x88, 0x3e}, Bytes(4), kInside}))), kInner) << "WCCP 2";
  EXPECT_EQ(inner_of(ipv4(47, join({{0, 0, 0x88, 0x47}, {0, 0, 1, 64}, kInside}))), kInner) << "MPLS";
}

TEST(Tunnel, UdpTunnels) {
  const auto over_udp = [](unsigned port, const Bytes& head, const Bytes& inside) {
    return inner_of(ipv4(17, udp(50000, port, join({head, inside}))));
  };
  EXPECT_EQ(over_udp(4789, {8, 0, 0, 0, 0, 0, 1, 0}, kFrame), kInner);
  EXPECT_EQ(over_udp(4790, {0x0c, 0, 0, 2, 0, 0, 1, 0}, kInside6), kInner6);
  EXPECT_EQ(over_udp(6081, {0x01, 0, 0x65, 0x58, 0, 0, 1, 0, 0, 0, 0, 0}, kFrame), kInner);
  EXPECT_EQ(over_udp(6081, {0x00, 0, 0x08, 0x00, 0, 0, 1, 0}, kInside), kInner);
  EXPECT_EQ(over_udp(2152, {0x30, 0xff, 0, 44, 0, 0, 0, 1}, kInside), kInner);
  EXPECT_EQ(over_udp(2152, {0x34, 0xff, 0, 44, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0, 9, 0}, kInside6), kInner6)
      << "extension";
  EXPECT_EQ(over_udp(3544, {}, kInside6), kInner6);
  EXPECT_EQ(over_udp(3544, {0, 1, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 1, 2, 3, 4, 5, 6}, kInside6), kInner6);
  EXPECT_EQ(over_udp(1701, {0x40, 2, 0, 99, 0, 1, 0, 2, 0xff, 3, 0, 0x21}, kInside), kInner);
  EXPECT_EQ(over_udp(6635, {0, 0, 1, 64}, kInside), kInner);
  EXPECT_EQ(over_udp(4341, Bytes(8), kInside), kInner);
}

const Bytes kWlan = join({{0x08, 0x02}, Bytes(22), {0xaa, 0xaa, 3, 0, 0, 0, 8, 0}, kInside});
const Bytes kWlanQos = join({{0x88, 0x02}, Bytes(24), {0xaa, 0xaa, 3, 0, 0, 0, 8, 0}, kInside});

TEST(Tunnel, WirelessFramesInGreByEachOfArubasTypes) {
  for (unsigned type = 0x8200; type <= 0x8370; type += 0x10)
    EXPECT_EQ(inner_of(ipv4(47, join({{0, 0}, be16(type), kWlan}))), kInner) << type;
  EXPECT_EQ(inner_of(ipv4(47, join({{0, 0, 0x82, 0}, kWlanQos}))), kInner);
  EXPECT_EQ(inner_of(ipv4(47, join({{0x10, 0, 0x82, 0}, Bytes(4), kWlan}))), kInner) << "with a sequence number";
  for (const unsigned type : {0x8201u, 0x8380u, 0x8400u, 0x9000u})
    EXPECT_EQ(inner_of(ipv4(47, join({{0, 0}, be16(type), kWlan}))), "47 10.0.0.1:0 > 10.0.1.1:0") << type;
  Bytes encrypted = kWlan;
  encrypted[1] |= 0x40;
  EXPECT_EQ(inner_of(ipv4(47, join({{0, 0, 0x82, 0}, encrypted}))), "47 10.0.0.1:0 > 10.0.1.1:0");
}

TEST(Tunnel, GreInUdpInTheClear) {
  for (const unsigned port : {4754u, 4755u}) {
    const auto inner = [&](const Bytes& gre) { return inner_of(ipv4(17, udp(50000, port, gre))); };
    const std::string outer = "17 10.0.0.1:50000 > 10.0.1.1:" + std::to_string(port);
    EXPECT_EQ(inner(join({{0, 0, 8, 0}, kInside})), kInner);
    EXPECT_EQ(inner(join({{0xb0, 0, 0x65, 0x58}, Bytes(12), kFrame})), kInner) << "checksum, key, sequence";
    EXPECT_EQ(inner_of(ipv4(17, udp(port, 50000, join({{0x20, 0, 0x86, 0xdd}, Bytes(4), kInside6})))), kInner6);
    EXPECT_EQ(inner(join({{0x17, 0xfe, 8, 0}, kInside})), outer) << "a DTLS record";
    for (unsigned flags = 0; flags < 0x10000; flags = flags == 0 ? 1 : flags << 1) {
      const bool known = flags == 0 || flags == 0x8000 || flags == 0x2000 || flags == 0x1000;
      const Bytes field = known && flags != 0 ? Bytes(4) : Bytes();
      EXPECT_EQ(inner(join({be16(flags), {8, 0}, field, kInside})), known ? kInner : outer) << flags;
    }
  }
}

TEST(Tunnel, AyiyaWithIdentitiesAndSignaturesOfEachLength) {
  for (unsigned identity = 0; identity < 16; ++identity) {
    for (unsigned signature = 0; signature < 16; ++signature) {
      const Bytes head = {static_cast<std::uint8_t>(identity << 4 | 1),
                          static_cast<std::uint8_t>(signature << 4 | 2),
                          0x11,
                          41,
                          1,
                          2,
                          3,
                          4};
      const Bytes packet =
          ipv4(17, udp(50000, 5072, join({head, Bytes((std::size_t{1} << identity) + 4 * signature), kInside6})));
      EXPECT_EQ(inner_of(packet), kInner6) << identity << ' ' << signature;
    }
  }
  const Bytes fields(16 + 20);
  const auto inner = [&](std::uint8_t operation, std::uint8_t next, const Bytes& inside) {
    return inner_of(ipv4(17, udp(50000, 5072, join({{0x41, 0x52, operation, next, 0, 0, 0, 0}, fields, inside}))));
  };
  EXPECT_EQ(inner(0x11, 4, kInside), kInner);
  EXPECT_EQ(inner(0x11, 47, join({{0, 0, 8, 0}, kInside})), kInner);
  EXPECT_EQ(inner_of(ipv4(17, udp(5072, 5072, join({{0x41, 0x52, 0x11, 41, 0, 0, 0, 0}, fields, kInside6})))), kInner6);
  const std::string outer = "17 10.0.0.1:50000 > 10.0.1.1:5072";
  for (const std::uint8_t operation : std::initializer_list<std::uint8_t>{0, 2, 4, 5, 6, 7, 15})
    EXPECT_EQ(inner(operation, 41, kInside6), outer);
  EXPECT_EQ(inner(0x11, 59, kInside6), outer) << "no next header";
  EXPECT_EQ(inner(0x11, 4, kInside6), outer) << "a version that the next header contradicts";
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

  const auto nested = [](auto wrap) {
    Bytes all = kInside;
    while (all.size() < 60'000) all = wrap(all);
    return inner_of(all);
  };
  EXPECT_EQ(nested([](const Bytes& in) {
              return ipv4(17, udp(3, 4754, join({{0, 0, 8, 0}, in})), 3);
            }),
            "17 10.0.0.3:3 > 10.0.1.3:4754");
  EXPECT_EQ(nested([](const Bytes& in) {
              return ipv4(17, udp(3, 5072, join({{0, 0, 1, 4, 0, 0, 0, 0, 0}, in})), 3);
            }),
            "17 10.0.0.3:3 > 10.0.1.3:5072");
  EXPECT_EQ(nested([](const Bytes& in) {
              return ipv4(47, join({{0, 0, 0x82, 0, 8, 2}, Bytes(22), {0xaa, 0xaa, 3, 0, 0, 0, 8, 0}, in}), 3);
            }),
            "47 10.0.0.3:0 > 10.0.1.3:0");
}

}  // namespace
}  // namespace parshall::testing
