// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/tcp.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <ostream>

#include "frames.hpp"
#include "pipeline/decode/fast_path.hpp"

namespace parshall {

static bool operator==(const TcpFacts& a, const TcpFacts& b) {
  if (!a.present || !b.present) return a.present == b.present;
  return a.seq == b.seq && a.ack == b.ack && a.payload_bytes == b.payload_bytes && a.ts_value == b.ts_value &&
         a.ts_echo == b.ts_echo && a.window == b.window;
}

static void PrintTo(const TcpFacts& tcp, std::ostream* to) {
  if (!tcp.present) {
    *to << "no segment";
    return;
  }
  *to << "seq " << tcp.seq << ", ack " << tcp.ack << ", " << tcp.payload_bytes << " bytes, time stamps " << tcp.ts_value
      << " and " << tcp.ts_echo << ", window " << tcp.window;
}

namespace testing {
namespace {

constexpr TcpFacts kNothing{};

Bytes be32(std::uint32_t value) { return join({be16(value >> 16), be16(value & 0xFFFF)}); }

/// Sequence number 0x89ABCDEF, acknowledgement 0xFEDCBA98, window 0xF00D; `options` in whole words.
Bytes segment(const Bytes& options, const Bytes& payload) {
  const auto offset = static_cast<unsigned>((20 + options.size()) / 4);
  return join({be16(1000),
               be16(80),
               be32(0x89ABCDEF),
               be32(0xFEDCBA98),
               be16(offset << 12 | 0x18),
               be16(0xF00D),
               {1, 2, 3, 4},
               options,
               payload});
}
Bytes timestamps(std::uint32_t value, std::uint32_t echo) { return join({{8, 10}, be32(value), be32(echo)}); }
Bytes aligned_timestamps(std::uint32_t value, std::uint32_t echo) { return join({{1, 1}, timestamps(value, echo)}); }

TcpFacts facts(std::uint32_t payload_bytes, std::uint32_t ts_value = 0, std::uint32_t ts_echo = 0) {
  return {.seq = 0x89ABCDEF,
          .ack = 0xFEDCBA98,
          .payload_bytes = payload_bytes,
          .ts_value = ts_value,
          .ts_echo = ts_echo,
          .window = 0xF00D,
          .present = true};
}

/// From memory of just the captured size, so that the address sanitizer sees any reading beyond; by the short way too,
/// where the packet is one for it.
TcpFacts read_cut(LinkType link_type, const Bytes& frame, std::size_t captured_bytes,
                  IpHeader header = IpHeader::outermost) {
  const auto block = std::make_unique<std::uint8_t[]>(captured_bytes);
  std::copy_n(frame.begin(), captured_bytes, block.get());
  const RawPacket packet{.data = block.get(),
                         .captured_bytes = static_cast<std::uint32_t>(captured_bytes),
                         .wire_bytes = static_cast<std::uint32_t>(frame.size()),
                         .link_type = link_type};
  constexpr TcpFacts kOthers{.ts_value = 77, .ts_echo = 78, .present = true};  // left by another packet
  TcpFacts tcp = kOthers;
  read_tcp(packet, header, tcp);
  FastHeader fast_header;
  if (header == IpHeader::outermost && decode_fast(packet, fast_header)) {
    TcpFacts fast = kOthers;
    read_tcp_fast(packet, fast);
    EXPECT_EQ(fast, tcp) << "of " << captured_bytes << " captured bytes";
  }
  if (TcpFacts common = kOthers; read_tcp_common(packet, header, common)) {
    EXPECT_EQ(common, tcp) << "of " << captured_bytes << " captured bytes";
  }
  return tcp;
}
TcpFacts read(const Bytes& frame, IpHeader header = IpHeader::outermost) {
  return read_cut(LinkType::ethernet, frame, frame.size(), header);
}
TcpFacts read_options(const Bytes& options) { return read(ethernet(0x0800, ipv4(6, segment(options, Bytes(7))))); }

TEST(Tcp, APlainHeadersFieldsAreRead) {
  EXPECT_EQ(read(ethernet(0x0800, ipv4(6, segment({}, Bytes(100))))), facts(100));
  EXPECT_EQ(read(ethernet(0x0800, ipv4(6, segment({}, {})))), facts(0));
  EXPECT_EQ(read(ethernet(0x86dd, ipv6_packet(6, segment({}, Bytes(100))))), facts(100));
}

TEST(Tcp, TimeStampsAreFoundWhereverTheyStand) {
  const Bytes stamps = timestamps(0x81828384, 0x91929394);
  const TcpFacts found = facts(7, 0x81828384, 0x91929394);
  EXPECT_EQ(read_options(join({{1, 1}, stamps})), found) << "as nearly every stack sends them";
  EXPECT_EQ(read_options(join({stamps, {0, 0}})), found);
  EXPECT_EQ(read_options(join({{1}, stamps, {1}})), found);
  EXPECT_EQ(read_options(join({{2, 4, 5, 0xB4, 4, 2}, stamps, {1, 3, 3, 7}})), found) << "a SYN's";
  EXPECT_EQ(read_options(join({{1, 1}, stamps, {1, 1, 5, 10}, Bytes(8)})), found) << "with SACK";
  EXPECT_EQ(read_options(join({{5, 26}, Bytes(24), {1, 1}, stamps, {1, 1}})), found) << "the longest header";
  EXPECT_EQ(read_options(join({{1, 1, 1, 1, 1, 1}, stamps})), found);
}

TEST(Tcp, WithoutTimeStampsTheyAreZero) {
  EXPECT_EQ(read_options({2, 4, 5, 0xB4}), facts(7));
  EXPECT_EQ(read_options({1, 1, 1, 1}), facts(7));
  EXPECT_EQ(read_options(join({{0, 0}, timestamps(1, 2)})), facts(7)) << "behind the end of the options";
  EXPECT_EQ(read_options(join({{0, 2}, timestamps(1, 2)})), facts(7)) << "which has no length";
  EXPECT_EQ(read_options(join({{3, 12}, timestamps(1, 2)})), facts(7)) << "inside another option";
}

TEST(Tcp, OptionsThatContradictThemselvesEndTheList) {
  const Bytes stamps = timestamps(1, 2);
  EXPECT_EQ(read_options(join({{3, 0}, stamps})), facts(7)) << "no length";
  EXPECT_EQ(read_options(join({{3, 1}, stamps})), facts(7)) << "less than kind and length";
  EXPECT_EQ(read_options(join({{3, 13}, stamps})), facts(7)) << "beyond the header";
  EXPECT_EQ(read_options(join({{3, 255}, stamps})), facts(7));
  EXPECT_EQ(read_options({1, 1, 1, 8}), facts(7)) << "a kind without its length";
  EXPECT_EQ(read_options({8, 10, 1, 2, 3, 4, 5, 6}), facts(7)) << "beyond the header, with the payload's bytes there";
  EXPECT_EQ(read_options({1, 1, 8, 10, 1, 2, 3, 4}), facts(7));
  EXPECT_EQ(read_options({8, 9, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0}), facts(7)) << "no time stamps' length";
  EXPECT_EQ(read_options(join({{8, 2}, stamps})), facts(7, 1, 2)) << "the next ones are good";
}

TEST(Tcp, CuttingAnywhereReadsNothingBehindTheCut) {
  const Bytes aligned = aligned_timestamps(5, 6), elsewhere = join({{2, 4, 5, 0xB4}, timestamps(5, 6), {1, 1}});
  const auto cut = [](const Bytes& head, const Bytes& options, std::size_t stamps_until) {
    const Bytes tcp = segment(options, Bytes(30));
    const Bytes frame = join({head, tcp});
    for (std::size_t captured = 0; captured <= frame.size(); ++captured) {
      const std::size_t of_segment = captured < head.size() ? 0 : captured - head.size();
      const TcpFacts expected = of_segment < 16 ? kNothing : of_segment < stamps_until ? facts(30) : facts(30, 5, 6);
      EXPECT_EQ(read_cut(LinkType::ethernet, frame, captured), expected) << "of " << captured << " captured bytes";
    }
  };
  for (const auto& [options, stamps_until] : {std::pair{aligned, 32u}, std::pair{elsewhere, 34u}}) {
    const Bytes tcp = segment(options, Bytes(30));
    const Bytes four = ethernet(0x0800, ipv4(6, tcp)), six = ethernet(0x86dd, ipv6_packet(6, tcp));
    cut(Bytes(four.begin(), four.begin() + 34), options, stamps_until);
    cut(Bytes(six.begin(), six.begin() + 54), options, stamps_until);
    const Bytes tagged =
        join({Bytes(four.begin(), four.begin() + 12), {0x81, 0, 0, 7}, Bytes(four.begin() + 12, four.begin() + 34)});
    cut(tagged, options, stamps_until);
  }
}

TEST(Tcp, IsFoundBehindTagsOptionsAndExtensionHeaders) {
  const Bytes tcp = segment(aligned_timestamps(5, 6), Bytes(40));
  const TcpFacts expected = facts(40, 5, 6);
  const Bytes tagged = join({{0, 7}, be16(0x0800), ipv4(6, tcp)});
  EXPECT_EQ(read(ethernet(0x8100, tagged)), expected);
  EXPECT_EQ(read(ethernet(0x88a8, join({{0, 7}, be16(0x8100), tagged}))), expected);
  EXPECT_EQ(read(ethernet(0x8100, join({{0, 7}, be16(0x86dd), ipv6_packet(6, tcp)}))), expected);
  Bytes with_options = ipv4(6, join({Bytes(8), tcp}));
  with_options[0] = 0x47;
  EXPECT_EQ(read(ethernet(0x0800, with_options)), expected);
  EXPECT_EQ(read(ethernet(0x86dd, ipv6_packet(0, join({{60, 0, 1, 4, 0, 0, 0, 0}, {6, 1}, Bytes(14), tcp})))),
            expected);
  EXPECT_EQ(read_cut(LinkType::raw, ipv4(6, tcp), 20 + tcp.size()), expected);
}

TEST(Tcp, IsOfTheHeaderThatNamesTheFlow) {
  const Bytes inner = ipv4(6, segment({}, Bytes(11)), 9);
  const Bytes in_ip = ethernet(0x0800, ipv4(4, inner));
  EXPECT_EQ(read(in_ip, IpHeader::outermost), kNothing);
  EXPECT_EQ(read(in_ip, IpHeader::innermost), facts(11));
  const Bytes vxlan =
      ethernet(0x0800, ipv4(17, udp(5000, 4789, join({{8, 0, 0, 0, 0, 0, 1, 0}, ethernet(0x0800, inner)}))));
  EXPECT_EQ(read(vxlan, IpHeader::outermost), kNothing);
  EXPECT_EQ(read(vxlan, IpHeader::innermost), facts(11));
  EXPECT_EQ(read(ethernet(0x0800, inner), IpHeader::innermost), facts(11)) << "the only one is the innermost too";
}

TEST(Tcp, AFragmentIsNoSegment) {
  constexpr unsigned kMore = 0x2000, kDoNot = 0x4000;
  const Bytes tcp = segment({}, Bytes(40));
  EXPECT_EQ(read(ethernet(0x0800, ipv4(6, tcp, 1, kMore))), kNothing) << "the first";
  EXPECT_EQ(read(ethernet(0x0800, ipv4(6, tcp, 1, kMore | 5))), kNothing);
  EXPECT_EQ(read(ethernet(0x0800, ipv4(6, tcp, 1, 5))), kNothing) << "the last";
  EXPECT_EQ(read(ethernet(0x0800, ipv4(6, tcp, 1, kDoNot))), facts(40));
  const auto ipv6_fragment = [&](unsigned offset) {
    return ethernet(0x86dd, ipv6_packet(44, join({{6, 0}, be16(offset), {0, 0, 0, 9}, tcp})));
  };
  EXPECT_EQ(read(ipv6_fragment(1)), kNothing);
  EXPECT_EQ(read(ipv6_fragment(8 | 1)), kNothing);
  EXPECT_EQ(read(ipv6_fragment(8)), kNothing);
  EXPECT_EQ(read(ipv6_fragment(0)), facts(40)) << "an atomic fragment is all there is (RFC 6946)";
}

TEST(Tcp, ADataOffsetThatCannotBeIsNoSegment) {
  for (unsigned words = 0; words < 16; ++words) {
    Bytes tcp = segment({}, Bytes(24));
    tcp[12] = static_cast<std::uint8_t>(words << 4);
    const TcpFacts expected = words < 5 || words > 11 ? kNothing : facts((11 - words) * 4);
    EXPECT_EQ(read(ethernet(0x0800, ipv4(6, tcp))), expected) << words;
    EXPECT_EQ(read(ethernet(0x0800, join({ipv4(6, tcp), Bytes(40)}))), expected) << words << ", with padding behind";
    EXPECT_EQ(read(ethernet(0x86dd, ipv6_packet(6, tcp))), expected) << words;
  }
}

TEST(Tcp, AHeaderBehindTheEndOfTheDatagramIsPadding) {
  const Bytes tcp = segment({}, Bytes(40));
  for (const unsigned ip_bytes : {20u, 24u, 35u, 36u, 39u}) {
    Bytes packet = ipv4(6, tcp);
    packet[3] = static_cast<std::uint8_t>(ip_bytes);
    EXPECT_EQ(read(ethernet(0x0800, packet)), kNothing) << ip_bytes;
  }
  for (const unsigned payload : {4u, 8u, 23u, 24u, 27u}) {
    Bytes packet = ipv6_packet(0, join({{6, 0, 1, 4, 0, 0, 0, 0}, tcp}));
    packet[5] = static_cast<std::uint8_t>(payload);
    EXPECT_EQ(read(ethernet(0x86dd, packet)), kNothing) << payload;
  }
}

TEST(Tcp, ThePayloadIsByTheIpHeaderAndWithinTheFrame) {
  const Bytes tcp = segment({}, Bytes(50));
  EXPECT_EQ(read(ethernet(0x0800, join({ipv4(6, segment({}, {})), Bytes(6)}))), facts(0)) << "padding is none";
  EXPECT_EQ(read(ethernet(0x86dd, join({ipv6_packet(6, tcp), Bytes(6)}))), facts(50));
  const Bytes whole = ethernet(0x0800, ipv4(6, tcp));
  EXPECT_EQ(read_cut(LinkType::ethernet, whole, 60), facts(50)) << "captured or not";

  Bytes longer = whole;
  longer[16] = 0x40;  // the IP header tells of 16 KiB
  EXPECT_EQ(read(longer), facts(50));
  EXPECT_EQ(read_cut(LinkType::ethernet, longer, 60), facts(50));
  longer[16] = 0, longer[17] = static_cast<std::uint8_t>(whole.size() - 14 + 1);
  EXPECT_EQ(read(longer), facts(50)) << "by a byte";
  longer[17] = 0;
  EXPECT_EQ(read(longer), facts(50)) << "a length of 0: to the end of the frame";
  Bytes longer6 = ethernet(0x86dd, ipv6_packet(6, tcp));
  longer6[18] = 0x40;
  EXPECT_EQ(read(longer6), facts(50));
}

TEST(Tcp, OtherProtocolsHaveNone) {
  for (const int protocol : {1, 17, 33, 50, 132, 136}) {
    const Bytes payload = segment({}, Bytes(40));
    EXPECT_EQ(read(ethernet(0x0800, ipv4(static_cast<std::uint8_t>(protocol), payload))), kNothing) << protocol;
    EXPECT_EQ(read(ethernet(0x86dd, ipv6_packet(static_cast<std::uint8_t>(protocol), payload))), kNothing) << protocol;
  }
  EXPECT_EQ(read(ethernet(0x0806, Bytes(60))), kNothing);
  EXPECT_EQ(read({}), kNothing);
}

}  // namespace
}  // namespace testing
}  // namespace parshall
