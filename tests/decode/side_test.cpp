// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/side.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "frames.hpp"
#include "pipeline/decode/fast_path.hpp"

namespace parshall::testing {
namespace {

/// From memory of just the captured size; by the short way too, where the packet is one for it.
SideFacts side_of(const Bytes& frame, std::size_t captured_bytes, IpHeader header = IpHeader::outermost) {
  const auto block = std::make_unique<std::uint8_t[]>(captured_bytes);
  std::copy_n(frame.begin(), captured_bytes, block.get());
  const RawPacket packet{.data = block.get(),
                         .captured_bytes = static_cast<std::uint32_t>(captured_bytes),
                         .wire_bytes = static_cast<std::uint32_t>(frame.size()),
                         .link_type = LinkType::ethernet};
  SideFacts side{.vlan = 1, .icmp_type_code = 2, .ttl = 3, .dscp = 4};  // left by another packet
  read_side(packet, header, side);
  FastHeader fast_header;
  if (header == IpHeader::outermost && decode_fast(packet, fast_header)) {
    SideFacts fast{.vlan = 1, .icmp_type_code = 2, .ttl = 3, .dscp = 4};
    read_side_fast(packet, fast);
    EXPECT_EQ(fast.vlan, side.vlan);
    EXPECT_EQ(fast.icmp_type_code, side.icmp_type_code);
    EXPECT_EQ(fast.ttl, side.ttl);
    EXPECT_EQ(fast.dscp, side.dscp);
  }
  return side;
}
SideFacts side_of(const Bytes& frame) { return side_of(frame, frame.size()); }

/// A datagram whose traffic class is EF with both ECN bits, and whose time to live is 63.
Bytes marked(Bytes datagram) {
  if (datagram[0] >> 4 == 4) {
    datagram[1] = 46 << 2 | 3;
    datagram[8] = 63;
  } else {
    datagram[0] = static_cast<std::uint8_t>(0x60 | (46 << 2 | 3) >> 4);
    datagram[1] = static_cast<std::uint8_t>((46 << 2 | 3) << 4);
    datagram[7] = 63;
  }
  return datagram;
}

TEST(Side, TimeToLiveAndCodePointOfBothVersions) {
  for (const std::uint8_t protocol : std::initializer_list<std::uint8_t>{6, 17, 47})
    for (const Bytes& frame : {ethernet(0x0800, marked(ipv4(protocol, Bytes(40)))),
                               ethernet(0x86dd, marked(ipv6_packet(protocol, Bytes(40))))}) {
      const SideFacts side = side_of(frame);
      EXPECT_EQ(side.ttl, 63);
      EXPECT_EQ(side.dscp, 46);
      EXPECT_EQ(side.vlan, SideFacts::kNone);
      EXPECT_EQ(side.icmp_type_code, SideFacts::kNone);
    }
}

TEST(Side, TheOutermostVlanWithoutItsPriority) {
  const Bytes inner = join({be16(0xe000 | 7), be16(0x0800), ipv4(17, Bytes(20))});
  EXPECT_EQ(side_of(ethernet(0x8100, inner)).vlan, 7);
  EXPECT_EQ(side_of(ethernet(0x88a8, join({be16(0x3000 | 4094), be16(0x8100), inner}))).vlan, 4094);
}

TEST(Side, TypeAndCodeOfIcmpWhereTheyWereCaptured) {
  const Bytes v4 = ethernet(0x0800, ipv4(1, {3, 4, 0, 0, 0, 0, 0, 0})),
              v6 = ethernet(0x86dd, ipv6_packet(58, {128, 0, 0, 0}));
  EXPECT_EQ(side_of(v4).icmp_type_code, 3 * 256 + 4);
  EXPECT_EQ(side_of(v6).icmp_type_code, 128 * 256);
  EXPECT_EQ(side_of(v4, 14 + 20 + 1).icmp_type_code, SideFacts::kNone);
  EXPECT_EQ(side_of(v4, 14 + 20 + 2).icmp_type_code, 3 * 256 + 4);
  Bytes fragment = ipv4(1, {3, 4, 0, 0, 0, 0, 0, 0});
  fragment[7] = 1;  // its offset
  EXPECT_EQ(side_of(ethernet(0x0800, fragment)).icmp_type_code, SideFacts::kNone);
}

TEST(Side, OfWhatIsNoIpNothingIsSaid) {
  const SideFacts side = side_of(ethernet(0x0806, Bytes(28)));
  EXPECT_EQ(side.vlan, SideFacts::kNone);
  EXPECT_EQ(side.ttl, 0);
}

}  // namespace
}  // namespace parshall::testing
