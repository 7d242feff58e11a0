// SPDX-License-Identifier: Apache-2.0
#include "tester/frame_reader.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "frames.hpp"
#include "traffic/frame.hpp"

namespace parshall::tester {
namespace {

using testing::be16;
using testing::ethernet;
using testing::ipv4;
using testing::ipv6_packet;
using testing::join;
using testing::udp;

constexpr std::uint64_t kNow = 1'700'000'000'000'000'000;
constexpr TestPlan kPlan{
    .streams = 1000, .frames = 1'000'000, .begin_ns = kNow - 10'000'000'000, .end_ns = kNow + 10'000'000'000};
const Trailer kTrailer{.stream = 321, .sequence = 54'321, .time_ns = kNow - 5'000'000};

Bytes tcp_with(const Bytes& payload, std::size_t option_bytes = 0) {
  Bytes header =
      join({be16(1000), be16(80), Bytes(8), be16(static_cast<unsigned>(0x5018 + (option_bytes / 4 << 12))), Bytes(6)});
  return join({header, Bytes(option_bytes, 1), payload});
}

struct Form {
  std::string name;
  LinkType link_type;
  Bytes frame;
};

/// The frame in every form that it may arrive in.
std::vector<Form> forms() {
  const Bytes payload = payload_with(kTrailer, 18), datagram = udp(1000, 2000, payload);
  const Bytes plain = ipv4(17, datagram), v6 = ipv6_packet(17, datagram);
  const Bytes vlan = join({be16(7), be16(kEtherIpv4), plain});
  const Bytes sll = join({Bytes(14), be16(kEtherIpv4), plain});
  std::vector<Form> all{
      {"UDP", LinkType::ethernet, ethernet(kEtherIpv4, plain)},
      {"TCP", LinkType::ethernet, ethernet(kEtherIpv4, ipv4(6, tcp_with(payload)))},
      {"TCP with options", LinkType::ethernet, ethernet(kEtherIpv4, ipv4(6, tcp_with(payload, 12)))},
      {"TCP and no more", LinkType::ethernet, ethernet(kEtherIpv4, ipv4(6, tcp_with(payload_with(kTrailer, 16))))},
      {"odd length", LinkType::ethernet, ethernet(kEtherIpv4, ipv4(17, udp(1, 2, payload_with(kTrailer, 1001))))},
      {"IPv6", LinkType::ethernet, ethernet(kEtherIpv6, v6)},
      {"VLAN", LinkType::ethernet, ethernet(0x8100, vlan)},
      {"QinQ", LinkType::ethernet, ethernet(0x88A8, join({be16(9), be16(0x8100), vlan}))},
      {"raw", LinkType::raw, plain},
      {"SLL", LinkType::linux_sll, sll},
      {"padded", LinkType::ethernet, join({ethernet(kEtherIpv4, plain), Bytes(7, 0xAA)})},
  };
  for (Form& form : all) form.frame = with_checksums(form.frame, form.link_type);
  const Bytes gre = ethernet(kEtherIpv4, ipv4(47, join({be16(0), be16(kEtherIpv4), plain})));
  all.push_back(
      {"GRE", LinkType::ethernet, with_checksums(with_checksums(gre), LinkType::ethernet, IpHeader::innermost)});
  Bytes vxlan =
      ethernet(kEtherIpv4, ipv4(17, udp(5000, 4789, join({{8, 0, 0, 0, 0, 0, 5, 0}, ethernet(kEtherIpv4, plain)}))));
  vxlan = with_checksums(with_checksums(vxlan), LinkType::ethernet, IpHeader::innermost);
  put16(vxlan.data() + 14 + 20 + 6, 0);
  all.push_back({"VXLAN", LinkType::ethernet, vxlan});
  return all;
}

TestFrame read(const Bytes& frame, LinkType link_type = LinkType::ethernet, const TestPlan& plan = kPlan) {
  return FrameReader(plan).read(packet_of(frame, link_type, kNow));
}

bool same(const Trailer& a, const Trailer& b) {
  return a.stream == b.stream && a.sequence == b.sequence && a.time_ns == b.time_ns;
}

TEST(FrameReader, FindsItsTrailerWhateverIsAroundTheDatagram) {
  for (const Form& form : forms()) {
    const TestFrame frame = read(form.frame, form.link_type);
    EXPECT_EQ(frame.kind, FrameKind::ours) << form.name;
    EXPECT_TRUE(frame.is_credible && same(frame.trailer, kTrailer)) << form.name;
  }
}

TEST(FrameReader, NeverTakesAFlippedBitBelowTheLinkLayerForWhatWasSent) {
  for (const Form& form : forms()) {
    const std::size_t from = form.link_type == LinkType::raw ? 0
                             : form.name == "QinQ"           ? 22
                             : form.name == "VLAN"           ? 18
                                                             : 14;
    const std::size_t to = form.name == "padded" ? form.frame.size() - 7 : form.frame.size();
    // A tunnel's own headers are under no checksum that is looked at, and a bit of theirs may hide the inner header.
    const auto is_checked = [&](std::size_t at) {
      if (form.name == "GRE") return at >= 38;
      if (form.name == "VXLAN") return at < 34 || at >= 68;
      if (form.name == "IPv6") return at >= 22 || (at >= 18 && at < 21);  // nor are its class, label and hop limit
      if (form.name == "SLL") return at >= 16;
      return true;
    };
    int corrupted = 0, bits = 0;
    for (std::size_t bit = from * 8; bit < to * 8; ++bit) {
      if (!is_checked(bit / 8)) continue;
      Bytes flipped = form.frame;
      flipped[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
      const TestFrame frame = read(flipped, form.link_type);
      EXPECT_NE(frame.kind, FrameKind::ours) << form.name << " bit " << bit;
      EXPECT_NE(frame.kind, FrameKind::contradictory) << form.name << " bit " << bit;
      corrupted += frame.kind == FrameKind::corrupted;
      ++bits;
    }
    EXPECT_GE(corrupted, bits * (form.name == "padded" ? 80 : 95) / 100) << form.name;
  }
}

TEST(FrameReader, NamesTheStreamOfACorruptedFrameThatIsCredible) {
  Bytes frame = forms()[0].frame;
  frame[44] ^= 1;  // of the payload before the trailer
  EXPECT_EQ(read(frame).kind, FrameKind::corrupted);
  EXPECT_TRUE(read(frame).is_credible);
  EXPECT_TRUE(same(read(frame).trailer, kTrailer));
  Bytes other_stream = forms()[0].frame;
  other_stream[other_stream.size() - 8] ^= 0x80;
  EXPECT_EQ(read(other_stream).kind, FrameKind::corrupted);
  EXPECT_FALSE(read(other_stream).is_credible);
}

TEST(FrameReader, ReadsThePlainFrameAsItDoesTheSameBehindATag) {
  std::mt19937_64 random(1);
  const std::vector<Form> all = forms();
  const Bytes shim{0x81, 0x00, 0x00, 0x07};
  for (const std::size_t form : {0, 1, 2, 3}) {
    for (int round = 0; round < 20'000; ++round) {
      Bytes frame = all[form].frame;
      for (std::uint64_t flips = random() % 3; flips > 0; --flips)
        frame[14 + random() % (frame.size() - 14)] ^= static_cast<std::uint8_t>(1 << random() % 8);
      if (random() % 4 == 0) frame.resize(14 + random() % (frame.size() - 13));
      Bytes tagged = frame;
      tagged.insert(tagged.begin() + 12, shim.begin(), shim.end());
      const TestFrame plain = read(frame), behind = read(tagged);
      ASSERT_EQ(plain.kind, behind.kind) << round;
      ASSERT_EQ(plain.is_credible, behind.is_credible) << round;
      ASSERT_TRUE(!plain.is_credible || same(plain.trailer, behind.trailer)) << round;
    }
  }
}

TEST(FrameReader, SaysCutWhereTheTrailerWasNotCaptured) {
  for (const Form& form : forms()) {
    if (form.name == "padded") continue;
    for (std::size_t captured = 0; captured < form.frame.size(); ++captured) {
      const Bytes part(form.frame.begin(), form.frame.begin() + static_cast<std::ptrdiff_t>(captured));
      RawPacket packet = packet_of(part, form.link_type, kNow);
      packet.wire_bytes = static_cast<std::uint32_t>(form.frame.size());
      EXPECT_EQ(FrameReader(kPlan).read(packet).kind, FrameKind::cut) << form.name << " " << captured;
    }
  }
  const Bytes fragment = ethernet(kEtherIpv4, ipv4(17, udp(1, 2, payload_with(kTrailer, 40)), 1, 0x2000));
  EXPECT_EQ(read(with_checksums(fragment)).kind, FrameKind::cut);
}

TEST(FrameReader, LeavesOtherTrafficAlone) {
  EXPECT_EQ(read(ethernet(0x0806, Bytes(46))).kind, FrameKind::foreign);
  EXPECT_EQ(read(with_checksums(ethernet(kEtherIpv4, ipv4(17, udp(1, 2, Bytes(30)))))).kind, FrameKind::foreign);
  EXPECT_EQ(read(with_checksums(ethernet(kEtherIpv6, ipv6_packet(58, Bytes(24))))).kind, FrameKind::foreign);
  EXPECT_EQ(read(ethernet(kEtherIpv4, ipv4(6, tcp_with(Bytes(3))))).kind, FrameKind::foreign);
  EXPECT_EQ(read(Bytes(5)).kind, FrameKind::foreign);
  // Its checksum is for a device to fill in: wrong, and not corrupted.
  EXPECT_EQ(read(ethernet(kEtherIpv4, ipv4(6, tcp_with(Bytes(40))))).kind, FrameKind::foreign);
}

TEST(FrameReader, SaysContradictoryOfGoodFramesThatWereNotToBeSent) {
  const auto kind_of = [](Trailer trailer) {
    return read(with_checksums(ethernet(kEtherIpv4, ipv4(17, udp(1, 2, payload_with(trailer, 40)))))).kind;
  };
  EXPECT_EQ(kind_of(kTrailer), FrameKind::ours);
  EXPECT_EQ(kind_of({.stream = 1000, .sequence = 1, .time_ns = kNow}), FrameKind::contradictory);
  EXPECT_EQ(kind_of({.stream = 999, .sequence = 999'999, .time_ns = kPlan.begin_ns}), FrameKind::ours);
  EXPECT_EQ(kind_of({.stream = 1, .sequence = 1'000'000, .time_ns = kNow}), FrameKind::contradictory);
  EXPECT_EQ(kind_of({.stream = 1, .sequence = 1, .time_ns = kPlan.begin_ns - 1}), FrameKind::contradictory);
  EXPECT_EQ(kind_of({.stream = 1, .sequence = 1, .time_ns = kPlan.end_ns}), FrameKind::ours);
  EXPECT_EQ(kind_of({.stream = 1, .sequence = 1, .time_ns = kPlan.end_ns + 1}), FrameKind::contradictory);
}

TEST(FrameReader, SaysContradictoryOfFramesOfATestWithAnotherId) {
  TestPlan plan = kPlan;
  Trailer trailer = kTrailer;
  for (const std::uint32_t id : {0u, 0x8000'0000u, 0xC0FF'EE00u, 0xFFFF'FFFFu}) {
    plan.id = id;
    trailer.stream = kTrailer.stream ^ id;
    for (const char* form : {"plain", "tagged"}) {
      const Bytes datagram = ipv4(17, udp(1, 2, payload_with(trailer, 40)));
      const Bytes frame =
          with_checksums(form == std::string("plain") ? ethernet(kEtherIpv4, datagram)
                                                      : ethernet(0x8100, join({be16(7), be16(kEtherIpv4), datagram})));
      EXPECT_EQ(read(frame, LinkType::ethernet, plan).kind, FrameKind::ours) << id;
      EXPECT_EQ(read(frame, LinkType::ethernet, plan).trailer.stream, kTrailer.stream);
      TestPlan other = plan;
      other.id ^= 0x0010'0000;
      EXPECT_EQ(read(frame, LinkType::ethernet, other).kind, FrameKind::contradictory) << id;
    }
  }
}

TEST(FrameReader, TakesAUdpDatagramWithoutAChecksum) {
  Bytes frame = forms()[0].frame;
  put16(frame.data() + 40, 0);
  EXPECT_EQ(read(frame).kind, FrameKind::ours);
  frame[22] ^= 1;  // the IPv4 header still has one
  EXPECT_EQ(read(frame).kind, FrameKind::corrupted);
}

}  // namespace
}  // namespace parshall::tester
