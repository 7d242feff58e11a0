// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "frames.hpp"

namespace parshall::testing {
namespace {

std::string flow_of_ip(const Bytes& packet) { return show(decode(LinkType::raw, packet)); }

TEST(Ip, SizesAndTimeAreThoseOfThePacketNotOfTheCapture) {
  const Bytes frame = ethernet(0x0800, ipv4(17, udp(1, 2, Bytes(972))));
  const Decoded decoded = decode_cut(LinkType::ethernet, frame, 60);
  ASSERT_EQ(decoded.verdict, Verdict::counted);
  EXPECT_EQ(decoded.facts.ip_bytes(), 1000u);
  EXPECT_EQ(decoded.facts.wire_bytes(), 1014u);
  EXPECT_EQ(decoded.facts.time_ns, 7u);
}

TEST(Ip, PaddingIsNotCounted) {
  const Bytes frame = ethernet(0x0800, join({ipv4(17, udp(1, 2, {})), Bytes(18)}));
  EXPECT_EQ(decode(LinkType::ethernet, frame).facts.ip_bytes(), 28u);
}

TEST(Ip, ATotalLengthOfZeroCountsToTheEndOfTheFrame) {
  Bytes packet = ipv4(17, udp(1000, 53, Bytes(92)));
  packet[2] = packet[3] = 0;
  const Decoded decoded = decode_cut(LinkType::ethernet, ethernet(0x0800, packet), 60);
  ASSERT_EQ(decoded.verdict, Verdict::counted);
  EXPECT_EQ(decoded.facts.ip_bytes(), 120u);
  EXPECT_EQ(decoded.facts.key.dst_port(), 53);
}

TEST(Ip, ATotalLengthOfZeroWithLessLeftThanTheHeaderSaysIsRefused) {
  Bytes packet = ipv4(17, udp(1000, 53, {}));
  packet[2] = packet[3] = 0;
  packet[0] = 0x47;
  EXPECT_EQ(decode(LinkType::raw, packet).facts.ip_bytes(), 28u) << "just as many";
  packet[0] = 0x48;
  EXPECT_EQ(flow_of_ip(packet), "bad_ip_total_length");
  EXPECT_EQ(decode_cut(LinkType::raw, join({packet, Bytes(4)}), 28).verdict, Verdict::counted)
      << "it was longer on the wire than what was captured of it";
}

TEST(Ip, BadHeadersAreRefusedByReason) {
  Bytes packet = ipv4(17, udp(1, 2));
  packet[0] = 0x44;
  EXPECT_EQ(flow_of_ip(packet), "bad_ip_header_length");
  packet[0] = 0x46;
  packet[3] = 23;
  EXPECT_EQ(flow_of_ip(packet), "bad_ip_total_length");
  packet[3] = 24;
  EXPECT_EQ(decode(LinkType::raw, packet).verdict, Verdict::counted);
  EXPECT_EQ(flow_of_ip({}), "cut_ip_header");
}

TEST(Ip, OptionsAreSteppedOver) {
  Bytes packet = ipv4(17, join({Bytes(8), udp(1000, 53)}));
  packet[0] = 0x47;
  EXPECT_EQ(flow_of_ip(packet), "17 10.0.0.1:1000 > 10.0.1.1:53");
}

TEST(Ip, PortsBelongToFiveProtocolsOnly) {
  for (const int protocol : {6, 17, 33, 132, 136}) {
    EXPECT_EQ(flow_of_ip(ipv4(static_cast<std::uint8_t>(protocol), udp(1000, 53))),
              std::to_string(protocol) + " 10.0.0.1:1000 > 10.0.1.1:53");
  }
  for (const int protocol : {1, 2, 50, 51, 58, 89}) {
    EXPECT_EQ(flow_of_ip(ipv4(static_cast<std::uint8_t>(protocol), udp(1000, 53))),
              std::to_string(protocol) + " 10.0.0.1:0 > 10.0.1.1:0");
  }
}

TEST(Ip, PortsBehindTheEndOfTheDatagramArePadding) {
  Bytes packet = ipv4(6, tcp(1000, 53, 0x1ff));
  packet[3] = 22;
  const Decoded decoded = decode(LinkType::raw, packet);
  EXPECT_EQ(show(decoded), "6 10.0.0.1:0 > 10.0.1.1:0");
  EXPECT_EQ(decoded.facts.counts.tcp_flags(), 0u);
}

TEST(Ip, AllNineTcpFlagsAreKept) {
  for (unsigned flags = 1; flags < 0x200; flags <<= 1) {
    EXPECT_EQ(decode(LinkType::raw, ipv4(6, tcp(1, 2, flags))).facts.counts.tcp_flags(), flags);
    EXPECT_EQ(decode(LinkType::raw, ipv6_packet(6, tcp(1, 2, flags))).facts.counts.tcp_flags(), flags);
  }
  EXPECT_EQ(decode(LinkType::raw, ipv4(17, tcp(1, 2, 0x1ff))).facts.counts.tcp_flags(), 0u);
  EXPECT_EQ(decode_cut(LinkType::raw, ipv4(6, tcp(1, 2, 0x1ff)), 33).facts.counts.tcp_flags(), 0u) << "not captured";
}

TEST(Ip, OnlyTheFirstFragmentHasPorts) {
  constexpr unsigned kMore = 0x2000;
  const Bytes first = ipv4(6, tcp(1000, 53, 2), 1, kMore);
  const Bytes later = ipv4(6, tcp(1000, 53, 2), 1, 1);
  EXPECT_EQ(flow_of_ip(first), "6 10.0.0.1:1000 > 10.0.1.1:53");
  EXPECT_EQ(flow_of_ip(later), "6 10.0.0.1:0 > 10.0.1.1:0");
  EXPECT_EQ(decode(LinkType::raw, later).facts.counts.tcp_flags(), 0u);
}

TEST(Ip, Ipv6ExtensionHeadersAreWalked) {
  const Bytes hop_by_hop{43, 0, 1, 4, 0, 0, 0, 0};
  const Bytes routing{60, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const Bytes destination{51, 0, 1, 4, 0, 0, 0, 0};
  const Bytes authentication = join({{17, 4}, Bytes(22)});
  EXPECT_EQ(flow_of_ip(ipv6_packet(0, join({hop_by_hop, routing, destination, authentication, udp(1000, 53)}))),
            "17 fd00::1:1000 > fd01::1:53");
  EXPECT_EQ(flow_of_ip(ipv6_packet(50, Bytes(40))), "50 fd00::1:0 > fd01::1:0");
}

TEST(Ip, Ipv6FragmentsAfterTheFirstHaveTheFragmentHeadersProtocolAndNoPorts) {
  EXPECT_EQ(flow_of_ip(ipv6_packet(44, join({{17, 0, 0, 1, 0, 0, 0, 9}, udp(1000, 53)}))),
            "17 fd00::1:1000 > fd01::1:53");
  EXPECT_EQ(flow_of_ip(ipv6_packet(44, join({{17, 0, 0, 8, 0, 0, 0, 9}, udp(1000, 53)}))), "17 fd00::1:0 > fd01::1:0");
  EXPECT_EQ(flow_of_ip(ipv6_packet(44, join({{60, 0, 0, 8, 0, 0, 0, 9}, {17, 0}, Bytes(6), udp(1000, 53)}))),
            "60 fd00::1:0 > fd01::1:0")
      << "what follows is not a header";
}

TEST(Ip, Ipv4AuthenticationHeaderIsTheProtocol) {
  EXPECT_EQ(flow_of_ip(ipv4(51, join({{17, 4}, Bytes(22), udp(1000, 53)}))), "51 10.0.0.1:0 > 10.0.1.1:0");
}

TEST(Ip, AJumbogramCountsItsHeaderAndKeepsItsPorts) {
  Bytes packet = ipv6_packet(17, udp(1000, 53));
  packet[4] = packet[5] = 0;
  const Decoded decoded = decode(LinkType::raw, packet);
  EXPECT_EQ(decoded.facts.ip_bytes(), 40u);
  EXPECT_EQ(show(decoded), "17 fd00::1:1000 > fd01::1:53");
}

TEST(Ip, CuttingAnIpv6PacketAnywhereReadsNothingBehindTheCut) {
  const Bytes packet = ipv6_packet(0, join({{44, 0, 1, 4, 0, 0, 0, 0}, {6, 0, 0, 1, 0, 0, 0, 9}, tcp(1000, 53, 0x12)}));
  for (std::size_t captured = 0; captured <= packet.size(); ++captured) {
    const Decoded decoded = decode_cut(LinkType::raw, packet, captured);
    ASSERT_EQ(decoded.verdict, captured < 40 ? Verdict::cut_ip_header : Verdict::counted) << captured;
    if (captured < 40) continue;
    EXPECT_EQ(decoded.facts.key.protocol, captured < 41 ? 0 : captured < 56 ? 44 : 6) << captured;
    EXPECT_EQ(decoded.facts.key.src_port(), captured < 60 ? 0 : 1000) << captured;
    EXPECT_EQ(decoded.facts.counts.tcp_flags(), captured < 70 ? 0u : 0x12u) << captured;
    EXPECT_EQ(decoded.facts.ip_bytes(), packet.size());
  }
}

}  // namespace
}  // namespace parshall::testing
