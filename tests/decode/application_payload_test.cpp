// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <optional>

#include "application_bytes.hpp"
#include "pipeline/decode/application/payload.hpp"
#include "pipeline/decode/tcp.hpp"

namespace parshall::testing {
namespace {

struct FoundPayload {
  Payload payload;
  Bytes bytes;
};

/// From memory of just the captured size; nothing where there is no payload to find.
std::optional<FoundPayload> payload_of(const Bytes& frame, std::size_t captured, IpHeader header = IpHeader::outermost,
                                       LinkType link_type = LinkType::ethernet) {
  const ExactBytes exact(frame, captured);
  const RawPacket packet{.data = exact.span().data(),
                         .captured_bytes = static_cast<std::uint32_t>(captured),
                         .wire_bytes = static_cast<std::uint32_t>(frame.size()),
                         .link_type = link_type};
  FoundPayload found;
  if (!read_payload(packet, header, found.payload)) return std::nullopt;
  const auto bytes = found.payload.bytes;
  EXPECT_TRUE(bytes.empty() || (bytes.data() >= packet.data && bytes.data() + bytes.size() <= packet.data + captured));
  found.bytes.assign(bytes.begin(), bytes.end());
  TcpFacts tcp{};
  read_tcp(packet, header, tcp);
  if (found.payload.is_tcp && tcp.present) {
    EXPECT_EQ(found.payload.seq, tcp.seq);
    EXPECT_EQ(found.payload.is_cut, bytes.size() < tcp.payload_bytes);
  }
  return found;
}
std::optional<FoundPayload> payload_of(const Bytes& frame, IpHeader header = IpHeader::outermost) {
  return payload_of(frame, frame.size(), header);
}

Bytes payload_segment(const Bytes& payload, unsigned flags = 0x18, const Bytes& options = {}) {
  return join({be16(1000),
               be16(443),
               {0x89, 0xab, 0xcd, 0xef},
               Bytes(4),
               be16(static_cast<unsigned>((20 + options.size()) / 4) << 12 | flags),
               Bytes(6),
               options,
               payload});
}

void expect_bytes(const std::optional<FoundPayload>& found, const Bytes& bytes, const char* what = "") {
  ASSERT_TRUE(found) << what;
  EXPECT_EQ(found->bytes, bytes) << what;
}

TEST(ApplicationPayload, IsBehindTheHeadersOfBothProtocols) {
  const Bytes data = {1, 2, 3, 4, 5, 6, 7};
  for (const bool is_6 : {false, true}) {
    const auto packet = [&](std::uint8_t protocol, const Bytes& bytes) {
      return is_6 ? ethernet(0x86dd, ipv6_packet(protocol, bytes)) : ethernet(0x0800, ipv4(protocol, bytes));
    };
    const auto tcp_found = payload_of(packet(6, payload_segment(data)));
    expect_bytes(tcp_found, data);
    EXPECT_TRUE(tcp_found->payload.is_tcp);
    EXPECT_FALSE(tcp_found->payload.is_syn);
    EXPECT_FALSE(tcp_found->payload.is_cut);
    EXPECT_EQ(tcp_found->payload.seq, 0x89abcdef);
    EXPECT_EQ(tcp_found->payload.src_port, 1000);
    EXPECT_EQ(tcp_found->payload.dst_port, 443);
    const auto udp_found = payload_of(packet(17, udp(5000, 53, data)));
    expect_bytes(udp_found, data);
    EXPECT_FALSE(udp_found->payload.is_tcp);
    EXPECT_EQ(udp_found->payload.dst_port, 53);
    expect_bytes(payload_of(packet(6, payload_segment(data, 0x18, Bytes(12, 1)))), data, "with options");
    EXPECT_TRUE(payload_of(packet(6, payload_segment({}, 2)))->payload.is_syn);
  }
}

TEST(ApplicationPayload, PaddingIsNoneOfIt) {
  for (const Bytes& data : {Bytes{}, Bytes{1, 2}}) {
    expect_bytes(payload_of(join({ethernet(0x0800, ipv4(6, payload_segment(data))), Bytes(20, 0xee)})), data);
    expect_bytes(payload_of(join({ethernet(0x86dd, ipv6_packet(6, payload_segment(data))), Bytes(20, 0xee)})), data);
    expect_bytes(payload_of(join({ethernet(0x0800, ipv4(17, udp(1, 2, data))), Bytes(20, 0xee)})), data);
  }
  Bytes longer = udp(1, 2, {1, 2, 3, 4});
  longer[5] = 10;
  expect_bytes(payload_of(ethernet(0x0800, ipv4(17, join({longer, Bytes(8)})))), {1, 2}, "by UDP's own length");
  longer[5] = 0;
  expect_bytes(payload_of(ethernet(0x0800, ipv4(17, longer))), {1, 2, 3, 4}, "which may be missing");
  longer[5] = 7;
  EXPECT_FALSE(payload_of(ethernet(0x0800, ipv4(17, join({longer, Bytes(8)})))));
}

TEST(ApplicationPayload, CuttingAnywhereSaysSo) {
  const Bytes data(40, 0x5a), options(12, 1);
  for (const Bytes& frame : {ethernet(0x0800, ipv4(6, payload_segment(data, 0x18, options))),
                             ethernet(0x86dd, ipv6_packet(6, payload_segment(data, 0x18, options))),
                             ethernet(0x0800, ipv4(17, udp(1, 2, data))),
                             ethernet(0x8100, join({{0, 7}, be16(0x0800), ipv4(6, payload_segment(data))}))}) {
    for (std::size_t captured = 0; captured <= frame.size(); ++captured) {
      const auto found = payload_of(frame, captured);
      const std::size_t begin = frame.size() - data.size();
      if (captured >= begin) {
        ASSERT_TRUE(found) << captured;
      }
      if (!found) continue;
      EXPECT_EQ(found->bytes.size(), captured > begin ? captured - begin : 0) << captured;
      EXPECT_EQ(found->payload.is_cut, captured < frame.size()) << captured;
    }
  }
}

TEST(ApplicationPayload, CutOptionsAreNoCutPayload) {
  const Bytes frame = ethernet(0x0800, ipv4(6, payload_segment({}, 0x18, Bytes(12, 1))));
  const auto found = payload_of(frame, frame.size() - 3);
  expect_bytes(found, {});
  EXPECT_FALSE(found->payload.is_cut);
}

TEST(ApplicationPayload, IsOfTheHeaderThatNamesTheFlow) {
  const Bytes data = {7, 8, 9}, inner = ipv4(6, payload_segment(data), 9);
  const Bytes vxlan_payload = join({{8, 0, 0, 0, 0, 0, 1, 0}, ethernet(0x0800, inner)});
  const Bytes vxlan = ethernet(0x0800, ipv4(17, udp(5000, 4789, vxlan_payload)));
  expect_bytes(payload_of(vxlan), vxlan_payload);
  expect_bytes(payload_of(vxlan, IpHeader::innermost), data);
  const Bytes in_ip = ethernet(0x0800, ipv4(4, inner));
  EXPECT_FALSE(payload_of(in_ip));
  expect_bytes(payload_of(in_ip, IpHeader::innermost), data);
  expect_bytes(payload_of(ethernet(0x0800, inner), IpHeader::innermost), data);
  expect_bytes(payload_of(ethernet(0x8100, join({{0, 7}, be16(0x86dd), ipv6_packet(17, udp(1, 2, data))}))), data);
  expect_bytes(payload_of(ipv4(17, udp(1, 2, data)), 31, IpHeader::outermost, LinkType::raw), data);
}

TEST(ApplicationPayload, FragmentsAndOtherProtocolsHaveNone) {
  const Bytes data(40);
  EXPECT_FALSE(payload_of(ethernet(0x0800, ipv4(6, payload_segment(data), 1, 0x2000))));
  const auto first = payload_of(ethernet(0x0800, ipv4(17, udp(1, 53, data), 1, 0x2000)));
  expect_bytes(first, data, "a datagram begins in its first fragment");
  EXPECT_TRUE(first->payload.is_cut);
  EXPECT_FALSE(payload_of(ethernet(0x0800, ipv4(17, udp(1, 2, data), 1, 5))));
  EXPECT_TRUE(payload_of(ethernet(0x0800, ipv4(17, udp(1, 2, data), 1, 0x4000))));
  for (const std::uint8_t protocol : std::initializer_list<std::uint8_t>{1, 47, 132})
    EXPECT_FALSE(payload_of(ethernet(0x0800, ipv4(protocol, payload_segment(data)))));
  EXPECT_FALSE(payload_of(ethernet(0x0806, Bytes(60))));
  EXPECT_FALSE(payload_of(Bytes{}));
  for (unsigned words = 0; words < 16; ++words) {
    Bytes segment_bytes = payload_segment(Bytes(24));
    segment_bytes[12] = static_cast<std::uint8_t>(words << 4);
    EXPECT_EQ(payload_of(ethernet(0x0800, ipv4(6, segment_bytes))).has_value(), words >= 5 && words <= 11) << words;
    EXPECT_EQ(payload_of(ethernet(0x86dd, ipv6_packet(6, segment_bytes))).has_value(), words >= 5 && words <= 11)
        << words;
  }
}

}  // namespace
}  // namespace parshall::testing
