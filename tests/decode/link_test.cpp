// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "frames.hpp"

namespace parshall::testing {
namespace {

const Bytes kPacket = ipv4(17, udp(1000, 53));
const Bytes kPacket6 = ipv6_packet(17, udp(1000, 53));
const std::string kFlow = "17 10.0.0.1:1000 > 10.0.1.1:53";
const std::string kFlow6 = "17 fd00::1:1000 > fd01::1:53";

std::string flow_of(LinkType link_type, const Bytes& frame) { return show(decode(link_type, frame)); }

Bytes snap(unsigned type, const Bytes& payload) { return join({{0xaa, 0xaa, 3, 0, 0, 0}, be16(type), payload}); }

TEST(Link, EthernetCarriesIpBehindAnyNumberOfTags) {
  EXPECT_EQ(flow_of(LinkType::ethernet, ethernet(0x0800, kPacket)), kFlow);
  EXPECT_EQ(flow_of(LinkType::ethernet, ethernet(0x86dd, kPacket6)), kFlow6);
  Bytes tagged = join({{0x08, 0x00}, kPacket});
  for (int tags = 1; tags <= 100; ++tags) {
    tagged = join({{0x00, 0x05}, tagged});
    EXPECT_EQ(flow_of(LinkType::ethernet, ethernet(tags % 2 != 0 ? 0x8100 : 0x88a8, tagged)), kFlow) << tags;
    tagged = join({tags % 2 != 0 ? Bytes{0x81, 0x00} : Bytes{0x88, 0xa8}, tagged});
  }
}

TEST(Link, EthernetCarriesIpInLlcSnap) {
  const Bytes inside = snap(0x0800, kPacket);
  EXPECT_EQ(flow_of(LinkType::ethernet, ethernet(static_cast<unsigned>(inside.size()), inside)), kFlow);
  EXPECT_EQ(flow_of(LinkType::ethernet, ethernet(40, {0x42, 0x42, 3, 0, 0, 0, 0, 0})), "not_ip");
}

TEST(Link, EthernetCarriesIpInMplsPppoeAndServiceHeaders) {
  const Bytes two_labels{0, 0, 0x10, 64, 0, 0, 0x21, 64};
  EXPECT_EQ(flow_of(LinkType::ethernet, ethernet(0x8847, join({two_labels, kPacket}))), kFlow);
  EXPECT_EQ(flow_of(LinkType::ethernet, ethernet(0x8848, join({two_labels, kPacket6}))), kFlow6);
  const Bytes control_word{0, 0, 0, 0};
  EXPECT_EQ(flow_of(LinkType::ethernet, ethernet(0x8847, join({two_labels, control_word, ethernet(0x0800, kPacket)}))),
            kFlow);
  EXPECT_EQ(flow_of(LinkType::ethernet, ethernet(0x8847, join({two_labels, ethernet(0x0800, kPacket)}))), kFlow);
  EXPECT_EQ(flow_of(LinkType::ethernet, ethernet(0x8864, join({{0x11, 0, 0, 1, 0, 80, 0, 0x21}, kPacket}))), kFlow);
  EXPECT_EQ(flow_of(LinkType::ethernet, ethernet(0x8864, join({{0x11, 0, 0, 1, 0, 80, 0, 0x57}, kPacket6}))), kFlow6);
  EXPECT_EQ(flow_of(LinkType::ethernet, ethernet(0x8864, {0x11, 0, 0, 1, 0, 80, 0xc0, 0x21, 1, 1})), "not_ip");
  EXPECT_EQ(flow_of(LinkType::ethernet, ethernet(0x894f, join({{0, 0x02, 2, 1, 0, 0, 1, 0xff}, kPacket}))), kFlow);
  EXPECT_EQ(flow_of(LinkType::ethernet, ethernet(0x8909, join({{1, 1, 0, 1, 0, 5, 8, 0}, kPacket}))), kFlow);
  EXPECT_EQ(flow_of(LinkType::ethernet, ethernet(0x88e5, join({{0x20, 0}, Bytes(12), {8, 0}, kPacket}))), kFlow);
  EXPECT_EQ(flow_of(LinkType::ethernet, ethernet(0x8988, join({Bytes(6), {8, 0}, kPacket}))), kFlow) << "Cisco TTag";
  for (const std::uint8_t hardware : Bytes{0, 1}) {
    const auto arista = [&](std::uint8_t scale, std::uint8_t format, std::size_t bytes) {
      const Bytes head{0, 1, scale, static_cast<std::uint8_t>(format << 4 | hardware)};
      return ethernet(0xd28b, join({head, Bytes(bytes), {8, 0}, kPacket}));
    };
    EXPECT_EQ(flow_of(LinkType::ethernet, arista(0, 1, 8)), kFlow);
    EXPECT_EQ(flow_of(LinkType::ethernet, arista(1, 2, 6)), kFlow);
    EXPECT_EQ(flow_of(LinkType::ethernet, arista(1, 3, 8)), "not_ip") << "a format that there is not";
  }
  EXPECT_EQ(flow_of(LinkType::ethernet, ethernet(0x88e5, join({{0x2c, 0}, Bytes(12), {8, 0}, kPacket}))), "not_ip");
}

TEST(Link, OtherNetworkProtocolsAreNotIp) {
  EXPECT_EQ(flow_of(LinkType::ethernet, ethernet(0x0806, Bytes(28))), "not_ip");
  EXPECT_EQ(flow_of(LinkType::linux_sll, join({Bytes(14), {0x08, 0x06}, Bytes(28)})), "not_ip");
  EXPECT_EQ(flow_of(static_cast<LinkType>(147), kPacket), "unknown_link_type");
}

TEST(Link, AVersionThatContradictsTheLinkLayerIsRefused) {
  EXPECT_EQ(flow_of(LinkType::ethernet, ethernet(0x0800, kPacket6)), "bad_ip_version");
  EXPECT_EQ(flow_of(LinkType::ethernet, ethernet(0x86dd, kPacket)), "bad_ip_version");
  EXPECT_EQ(flow_of(LinkType::ipv4, kPacket6), "bad_ip_version");
  EXPECT_EQ(flow_of(LinkType::ipv6, kPacket), "bad_ip_version");
  EXPECT_EQ(flow_of(LinkType::raw, {0x35, 0}), "bad_ip_version");
}

TEST(Link, RawLinksCarryEitherVersion) {
  for (const LinkType type : {LinkType::raw, LinkType::raw_12, LinkType::raw_14}) {
    EXPECT_EQ(flow_of(type, kPacket), kFlow);
    EXPECT_EQ(flow_of(type, kPacket6), kFlow6);
  }
  EXPECT_EQ(flow_of(LinkType::ipv4, kPacket), kFlow);
  EXPECT_EQ(flow_of(LinkType::ipv6, kPacket6), kFlow6);
}

TEST(Link, LoopbackFamiliesOfEverySystemAndByteOrder) {
  EXPECT_EQ(flow_of(LinkType::null, join({{2, 0, 0, 0}, kPacket})), kFlow);
  EXPECT_EQ(flow_of(LinkType::loop, join({{0, 0, 0, 2}, kPacket})), kFlow);
  for (const std::uint8_t family : Bytes{10, 23, 24, 28, 30}) {
    EXPECT_EQ(flow_of(LinkType::null, join({{family, 0, 0, 0}, kPacket6})), kFlow6);
    EXPECT_EQ(flow_of(LinkType::loop, join({{0, 0, 0, family}, kPacket6})), kFlow6);
  }
  EXPECT_EQ(flow_of(LinkType::null, join({{7, 0, 0, 0}, kPacket})), "not_ip");
}

TEST(Link, CookedCapturesOfBothVersions) {
  EXPECT_EQ(flow_of(LinkType::linux_sll, join({Bytes(14), {0x08, 0x00}, kPacket})), kFlow);
  EXPECT_EQ(flow_of(LinkType::linux_sll2, join({{0x86, 0xdd}, Bytes(18), kPacket6})), kFlow6);
  EXPECT_EQ(flow_of(LinkType::linux_sll, join({Bytes(14), {0x81, 0x00, 0, 5, 8, 0}, kPacket})), kFlow);
  EXPECT_EQ(flow_of(LinkType::linux_sll, join({Bytes(14), {0, 4}, snap(0x0800, kPacket)})), kFlow);
}

TEST(Link, PppAndHdlc) {
  EXPECT_EQ(flow_of(LinkType::ppp, join({{0xff, 3, 0, 0x21}, kPacket})), kFlow);
  EXPECT_EQ(flow_of(LinkType::ppp, join({{0, 0x57}, kPacket6})), kFlow6);
  EXPECT_EQ(flow_of(LinkType::ppp_hdlc, join({{0xff, 3, 0x21}, kPacket})), kFlow) << "compressed protocol field";
  EXPECT_EQ(flow_of(LinkType::ppp, join({{0x0f, 0, 8, 0}, kPacket})), kFlow) << "Cisco's framing in a PPP capture";
  EXPECT_EQ(flow_of(LinkType::cisco_hdlc, join({{0x8f, 0, 8, 0}, kPacket})), kFlow);
  EXPECT_EQ(flow_of(LinkType::ppp, join({{0x02, 0x81, 0, 0, 1, 64}, kPacket})), kFlow) << "MPLS over PPP";
}

TEST(Link, FrameRelayAndAtm) {
  EXPECT_EQ(flow_of(LinkType::frame_relay, join({{0x18, 0x41, 3, 0xcc}, kPacket})), kFlow);
  EXPECT_EQ(flow_of(LinkType::frame_relay, join({{0x18, 0x41, 3, 0x8e}, kPacket6})), kFlow6);
  EXPECT_EQ(flow_of(LinkType::frame_relay, join({{0x18, 0x41, 3, 0, 0x80, 0, 0, 0, 8, 0}, kPacket})), kFlow);
  EXPECT_EQ(flow_of(LinkType::frame_relay, join({{0x18, 0x41, 8, 0}, kPacket})), kFlow) << "Cisco's encapsulation";
  EXPECT_EQ(flow_of(LinkType::atm_rfc1483, snap(0x0800, kPacket)), kFlow);
  EXPECT_EQ(flow_of(LinkType::sunatm, join({{2, 0, 0, 5}, snap(0x0800, kPacket)})), kFlow);
}

TEST(Link, WirelessDataFrames) {
  const Bytes data = join({{0x08, 0x02}, Bytes(22), snap(0x0800, kPacket)});
  const Bytes qos = join({{0x88, 0x01}, Bytes(24), snap(0x0800, kPacket)});
  const Bytes four_addresses = join({{0x08, 0x03}, Bytes(28), snap(0x0800, kPacket)});
  for (const Bytes& frame : {data, qos, four_addresses}) {
    EXPECT_EQ(flow_of(LinkType::ieee802_11, frame), kFlow);
    EXPECT_EQ(flow_of(LinkType::ieee802_11_radiotap, join({{0, 0, 9, 0, 2, 0, 0, 0, 0x10}, frame})), kFlow);
    EXPECT_EQ(flow_of(LinkType::ieee802_11_prism, join({Bytes(144), frame})), kFlow);
    EXPECT_EQ(flow_of(LinkType::ieee802_11_prism, join({{0x80, 0x21, 0x10, 1, 0, 0, 0, 64}, Bytes(56), frame})), kFlow);
    EXPECT_EQ(flow_of(LinkType::ppi, join({{0, 0, 8, 0, 105, 0, 0, 0}, frame})), kFlow);
  }
  const Bytes padded = join({{0x88, 0x01}, Bytes(24), {0, 0}, snap(0x0800, kPacket)});
  EXPECT_EQ(flow_of(LinkType::ieee802_11_radiotap, join({{0, 0, 9, 0, 2, 0, 0, 0, 0x20}, padded})), kFlow);
  EXPECT_EQ(flow_of(LinkType::ieee802_11, join({{0x08, 0x42}, Bytes(60)})), "not_ip") << "encrypted";
  EXPECT_EQ(flow_of(LinkType::ieee802_11, join({{0x48, 0x01}, Bytes(60)})), "not_ip") << "null data";
  EXPECT_EQ(flow_of(LinkType::ieee802_11, join({{0x80, 0x00}, Bytes(60)})), "not_ip") << "beacon";
}

TEST(Link, PacketsBehindTheFirstInAWlanFrameAreCounted) {
  const auto msdu = [](const Bytes& packet, std::size_t fill) {
    const Bytes inside = snap(0x0800, packet);
    return join({Bytes(12), be16(static_cast<unsigned>(inside.size())), inside, Bytes(fill)});
  };
  const auto later = [](LinkType link_type, const Bytes& frame) {
    return count_later_msdus({.data = frame.data(),
                              .captured_bytes = static_cast<std::uint32_t>(frame.size()),
                              .wire_bytes = static_cast<std::uint32_t>(frame.size()),
                              .link_type = link_type});
  };
  const std::size_t fill = (4 - msdu(kPacket, 0).size() % 4) % 4;
  const Bytes head = join({{0x88, 0x01}, Bytes(22), {0x80, 0}});
  const Bytes three = join({msdu(kPacket, fill), msdu(kPacket, fill), msdu(kPacket, 0)});
  EXPECT_EQ(flow_of(LinkType::ieee802_11, join({head, three})), kFlow);
  EXPECT_EQ(later(LinkType::ieee802_11, join({head, three})), 2u);
  const Bytes padded = join({{0, 0, 9, 0, 2, 0, 0, 0, 0x20}, head, {0, 0}, three});
  EXPECT_EQ(flow_of(LinkType::ieee802_11_radiotap, padded), kFlow);
  EXPECT_EQ(later(LinkType::ieee802_11_radiotap, padded), 2u);
  EXPECT_EQ(later(LinkType::ieee802_11, join({head, msdu(kPacket, fill), Bytes(20)})), 0u) << "filling";
  EXPECT_EQ(later(LinkType::ieee802_11, join({{0x88, 0x01}, Bytes(24), snap(0x0800, kPacket)})), 0u);
  EXPECT_EQ(later(LinkType::ethernet, ethernet(0x0800, kPacket)), 0u);
  for (std::size_t cut = 0; cut < three.size(); ++cut) {
    Bytes frame = join({head, three});
    frame.resize(head.size() + cut);
    EXPECT_LE(later(LinkType::ieee802_11, frame), 2u);
  }
}

TEST(Link, PpiHeaderIsNoShorterThanItsFixedPartAndItsLinkTypeHas32Bits) {
  const Bytes packet = join({{0, 0, 7, 0, 101, 0, 0}, kPacket});
  EXPECT_EQ(flow_of(LinkType::ppi, packet), "not_ip") << "a packet within the header that leads to it";
  EXPECT_EQ(flow_of(LinkType::ppi, join({{0, 0, 12, 0, 101, 0, 0, 0, 1, 2, 3, 4}, kPacket})), kFlow);
  EXPECT_EQ(flow_of(LinkType::ppi, join({{0, 0, 8, 0, 101, 0, 1, 0}, kPacket})), "unknown_link_type");
}

/// Numbers by the registry of tcpdump.org (www.tcpdump.org/linktypes.html).
TEST(Link, LogsSwitchTagsAndOtherHeadersBeforeIp) {
  const auto of_number = [](int number, const Bytes& frame) { return flow_of(static_cast<LinkType>(number), frame); };
  EXPECT_EQ(of_number(117, join({{61, 2}, Bytes(62), kPacket})), kFlow) << "PFLOG";
  for (const std::uint8_t family : Bytes{24, 28, 30})
    EXPECT_EQ(of_number(117, join({{61, family}, Bytes(62), kPacket6})), kFlow6);
  EXPECT_EQ(of_number(117, join({{61, 16}, Bytes(62), kPacket})), "not_ip");
  EXPECT_EQ(of_number(117, join({{0, 2}, Bytes(62), kPacket})), "not_ip") << "a header of no length";
  EXPECT_EQ(of_number(109, join({{2, 0, 0, 0}, Bytes(8), kPacket})), kFlow) << "ENC";
  EXPECT_EQ(of_number(109, join({{0, 0, 0, 24}, Bytes(8), kPacket6})), kFlow6);
  EXPECT_EQ(of_number(109, join({{9, 0, 0, 0}, Bytes(8), kPacket})), "not_ip");
  EXPECT_EQ(of_number(51, join({{0x11, 0, 0, 1, 0, 80, 0, 0x21}, kPacket})), kFlow) << "PPP_ETHER";
  EXPECT_EQ(of_number(51, join({{0x11, 9, 0, 0, 0, 4}, Bytes(40)})), "not_ip") << "discovery";
  EXPECT_EQ(of_number(242, join({Bytes(40), {8, 0, 0, 0}, kPacket})), kFlow) << "IPOIB";
  EXPECT_EQ(of_number(242, join({Bytes(40), {0x86, 0xdd, 0, 0}, kPacket6})), kFlow6);
  EXPECT_EQ(of_number(219, join({{0, 0, 0x10, 64, 0, 0, 0x21, 64}, kPacket})), kFlow) << "MPLS";
  EXPECT_EQ(of_number(281, join({Bytes(16), {8, 0}, kPacket})), kFlow) << "DSA_TAG_BRCM";
  EXPECT_EQ(of_number(282, join({Bytes(4), ethernet(0x0800, kPacket)})), kFlow) << "DSA_TAG_BRCM_PREPEND";
  EXPECT_EQ(of_number(284, join({Bytes(12), {0xc0, 8, 0, 0, 0x86, 0xdd}, kPacket6})), kFlow6) << "DSA_TAG_DSA";
  EXPECT_EQ(of_number(285, join({Bytes(12), {0xda, 0xda, 0, 0, 0xc0, 8, 0, 0, 8, 0}, kPacket})), kFlow)
      << "DSA_TAG_EDSA";
}

TEST(Link, RareLinks) {
  EXPECT_EQ(flow_of(LinkType::nflog, join({{2, 0, 0, 0, 5, 0, 10, 0, 0, 0, 0, 0, 64, 0, 9, 0}, kPacket})), kFlow);
  EXPECT_EQ(flow_of(LinkType::arcnet_linux, join({{1, 2, 0, 0, 212, 0, 0, 1}, kPacket})), kFlow);
  EXPECT_EQ(flow_of(LinkType::arcnet_linux, join({{1, 2, 0, 0, 240}, kPacket})), kFlow);
  EXPECT_EQ(flow_of(LinkType::token_ring, join({{0x10, 0x40}, Bytes(12), snap(0x0800, kPacket)})), kFlow);
  EXPECT_EQ(flow_of(LinkType::token_ring,
                    join({{0x10, 0x40}, Bytes(6), {0x80}, Bytes(5), {4, 0, 0, 0}, snap(0x0800, kPacket)})),
            kFlow)
      << "source-routed";
  EXPECT_EQ(flow_of(LinkType::fddi, join({{0x50}, Bytes(12), snap(0x0800, kPacket)})), kFlow);
  EXPECT_EQ(flow_of(LinkType::slip, join({{0, 0x45}, Bytes(14), kPacket})), kFlow);
  EXPECT_EQ(flow_of(LinkType::ipnet, join({{1, 26}, Bytes(22), kPacket6})), kFlow6);
  EXPECT_EQ(flow_of(LinkType::erf, join({Bytes(8), {2}, Bytes(7), {0, 0}, ethernet(0x0800, kPacket)})), kFlow);
  EXPECT_EQ(flow_of(LinkType::erf,
                    join({Bytes(8), {0x82}, Bytes(7), {0x80}, Bytes(7), Bytes(8), {0, 0}, ethernet(0x0800, kPacket)})),
            kFlow)
      << "with two extension headers";
}

TEST(Link, ACutAnywhereGivesAReasonAndReadsNothingBehindIt) {
  const Bytes frame = ethernet(0x8100, join({{0, 5, 8, 0}, kPacket}));
  for (std::size_t captured = 0; captured < frame.size(); ++captured) {
    const Decoded decoded = decode_cut(LinkType::ethernet, frame, captured);
    EXPECT_EQ(decoded.verdict, captured < 18   ? Verdict::cut_link_header
                               : captured < 38 ? Verdict::cut_ip_header
                                               : Verdict::counted)
        << captured;
    if (captured >= 38) {
      EXPECT_EQ(decoded.facts.ip_bytes(), 36u);
      EXPECT_EQ(decoded.facts.key.dst_port(), captured >= 42 ? 53 : 0) << captured;
    }
  }
}

TEST(Link, NoLinkTypeCountsOrReadsBehindACut) {
  struct Sample {
    LinkType link_type;
    Bytes head;
  };
  const Bytes snap_head = snap(0x0800, {});
  const std::vector<Sample> samples{
      {LinkType::ethernet, ethernet(40, snap_head)},
      {LinkType::ethernet, ethernet(0x8847, {0, 0, 0x10, 64, 0, 0, 0x21, 64})},
      {LinkType::ethernet, ethernet(0x8864, {0x11, 0, 0, 1, 0, 80, 0, 0x21})},
      {LinkType::ethernet, ethernet(0x894f, {0, 0x02, 2, 1, 0, 0, 1, 0xff})},
      {LinkType::ethernet, ethernet(0x88e5, join({{0x20, 0}, Bytes(12), {8, 0}}))},
      {LinkType::null, {2, 0, 0, 0}},
      {LinkType::linux_sll, join({Bytes(14), {8, 0}})},
      {LinkType::linux_sll2, join({{8, 0}, Bytes(18)})},
      {LinkType::ppp, {0xff, 3, 0, 0x21}},
      {LinkType::cisco_hdlc, {0x8f, 0, 8, 0}},
      {LinkType::frame_relay, {0x18, 0x41, 3, 0, 0x80, 0, 0, 0, 8, 0}},
      {LinkType::ieee802_11, join({{0x88, 0x01}, Bytes(24), snap_head})},
      {LinkType::ieee802_11_radiotap, join({{0, 0, 9, 0, 2, 0, 0, 0, 0x10, 0x08, 0x02}, Bytes(22), snap_head})},
      {LinkType::ppi, join({{0, 0, 8, 0, 105, 0, 0, 0, 0x08, 0x02}, Bytes(22), snap_head})},
      {LinkType::nflog, {2, 0, 0, 0, 5, 0, 10, 0, 0, 0, 0, 0, 24, 0, 9, 0}},
      {LinkType::arcnet_linux, {1, 2, 0, 0, 212, 0, 0, 1}},
      {LinkType::token_ring, join({{0x10, 0x40}, Bytes(12), snap_head})},
      {LinkType::fddi, join({{0x50}, Bytes(12), snap_head})},
      {LinkType::slip, join({{0, 0x45}, Bytes(14)})},
      {LinkType::ipnet, join({{1, 2}, Bytes(22)})},
      {LinkType::enc, join({{2, 0, 0, 0}, Bytes(8)})},
      {LinkType::pflog, join({{61, 2}, Bytes(62)})},
      {LinkType::ppp_ether, {0x11, 0, 0, 1, 0, 80, 0, 0x21}},
      {LinkType::ipoib, join({Bytes(40), {8, 0, 0, 0}})},
      {LinkType::mpls, {0, 0, 0x10, 64, 0, 0, 0x21, 64}},
      {LinkType::dsa_tag_brcm, join({Bytes(16), {8, 0}})},
      {LinkType::dsa_tag_brcm_prepend, join({Bytes(4), ethernet(0x0800, {})})},
      {LinkType::dsa_tag_dsa, join({Bytes(16), {8, 0}})},
      {LinkType::dsa_tag_edsa, join({Bytes(20), {8, 0}})},
      {LinkType::ethernet, ethernet(0x8988, join({Bytes(6), {8, 0}}))},
      {LinkType::ethernet, ethernet(0xd28b, join({{0, 1, 0, 0x10}, Bytes(8), {8, 0}}))},
      {LinkType::erf, join({Bytes(8), {0x82}, Bytes(17), ethernet(0x0800, {})})},
  };
  for (const Sample& sample : samples) {
    const Bytes frame = join({sample.head, kPacket});
    const std::size_t needed = sample.head.size() + 20;
    for (std::size_t captured = 0; captured <= frame.size(); ++captured) {
      const Verdict verdict = decode_cut(sample.link_type, frame, captured).verdict;
      const bool cut = verdict == Verdict::cut_link_header || verdict == Verdict::cut_ip_header;
      EXPECT_EQ(cut, captured < needed) << static_cast<int>(sample.link_type) << " cut to " << captured;
      EXPECT_EQ(verdict == Verdict::counted, captured >= needed);
    }
  }
}

}  // namespace
}  // namespace parshall::testing
