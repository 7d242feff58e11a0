// SPDX-License-Identifier: Apache-2.0
#include "traffic/replay_writer.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "sending.hpp"
#include "traffic/checksums.hpp"
#include "traffic/frame.hpp"
#include "traffic/memory_source.hpp"

namespace parshall {
namespace {

/// An Ethernet frame of built-in traffic, with good checksums.
Bytes built_in(const std::string& spec) {
  auto trace = Trace::make(*TrafficSpec::parse(spec + ",flows=1,packets=1"));
  Bytes frame(trace->frame(0), trace->frame(0) + trace->frame_bytes(0));
  Datagram datagram;
  EXPECT_EQ(
      find_datagram(Frame(frame.data(), frame.size(), frame.size()), LinkType::ethernet, IpHeader::outermost, datagram),
      Verdict::counted);
  write_checksums(frame.data(), frame.size(), datagram);
  return frame;
}

struct Written {
  Bytes bytes;
  Datagram datagram;
  ChecksumState checksums = ChecksumState::unknown;
};

/// Nothing where the packet makes no frame.
std::optional<Written> write(const Captured& captured, const ReplayChanges& changes = {}, std::uint64_t loop = 0) {
  ReplayWriter writer(changes, [loop] { return loop; });
  const RawPacket packet = captured.packet();
  OutFrame frame;
  writer.lengths({&packet, 1}, {&frame, 1});
  if (frame.bytes == 0) return std::nullopt;
  Written written{.bytes = Bytes(frame.bytes + 8, 0xEE), .datagram = {}};
  frame.data = written.bytes.data();
  writer.write({&packet, 1}, {&frame, 1}, {});
  EXPECT_EQ(Bytes(written.bytes.end() - 8, written.bytes.end()), Bytes(8, 0xEE)) << "nothing behind the frame";
  written.bytes.resize(frame.bytes);
  const Frame whole(written.bytes.data(), written.bytes.size(), written.bytes.size());
  if (find_datagram(whole, LinkType::ethernet, IpHeader::outermost, written.datagram) == Verdict::counted)
    written.checksums = check_checksums(written.bytes.data(), written.bytes.size(), written.datagram);
  return written;
}

const char* const kKinds[] = {"protocol=tcp,size=200", "protocol=udp,size=200", "protocol=tcp,ipv6=1,size=200",
                              "protocol=udp,ipv6=1,size=200"};

TEST(Replay, SendsWholePacketsAsTheyCame) {
  for (const char* kind : kKinds) {
    Bytes frame = built_in(kind);
    frame[40] ^= 1;  // a wrong checksum, too
    EXPECT_EQ(write({frame})->bytes, frame);
  }
  EXPECT_EQ(write({Bytes(3, 7)})->bytes, Bytes(3, 7)) << "of whatever kind";
}

TEST(Replay, FillsWhatTheCaptureLacksWithZerosAndMakesItValid) {
  for (const char* kind : kKinds) {
    const Bytes whole = built_in(kind);
    for (std::uint32_t there = 75; there < whole.size(); there += 11) {
      Captured cut{.bytes = Bytes(whole.begin(), whole.begin() + there),
                   .wire_bytes = static_cast<std::uint32_t>(whole.size())};
      const auto written = write(cut);
      ASSERT_EQ(written->bytes.size(), whole.size());
      EXPECT_EQ(written->checksums, ChecksumState::good) << kind << " " << there;
      EXPECT_EQ(Bytes(written->bytes.begin() + there, written->bytes.end()), Bytes(whole.size() - there));
      EXPECT_EQ(Bytes(written->bytes.begin() + 54 + 4, written->bytes.begin() + 54 + 6),
                Bytes(whole.begin() + 54 + 4, whole.begin() + 54 + 6));
    }
  }
}

TEST(Replay, CutsFramesAtACapAndSaysSoInTheHeaders) {
  for (const char* kind : kKinds) {
    const Bytes whole = built_in(kind);
    const auto written = write({whole}, {.most_bytes = 104});
    ASSERT_EQ(written->bytes.size(), 100u);
    EXPECT_EQ(write({whole}, {.most_bytes = 200})->bytes, whole) << "no longer than it may be";
    EXPECT_EQ(written->datagram.end, 100u) << kind;
    EXPECT_EQ(written->checksums, ChecksumState::good) << kind;
    if (written->datagram.protocol != 17) continue;
    EXPECT_EQ(get16(&written->bytes[written->datagram.payload_at + 4]), 100 - written->datagram.payload_at);
  }
}

TEST(Replay, PadsFramesBehindTheirDatagram) {
  for (const char* kind : kKinds) {
    const Bytes whole = built_in(kind);
    const auto written = write({whole}, {.least_bytes = 304});
    ASSERT_EQ(written->bytes.size(), 300u);
    EXPECT_EQ(Bytes(written->bytes.begin(), written->bytes.begin() + 196), whole);
    EXPECT_EQ(Bytes(written->bytes.begin() + 196, written->bytes.end()), Bytes(104));
    EXPECT_EQ(written->checksums, ChecksumState::good);
  }
}

TEST(Replay, ChangesBothAddressesAlikeInEachLoopButTheFirst) {
  for (const char* kind : kKinds) {
    const Bytes whole = built_in(kind);
    EXPECT_EQ(write({whole}, {.fresh_flows = true}, 0)->bytes, whole);
    Bytes last = whole;
    for (const std::uint64_t loop : {1u, 2u, 1000u, (1u << 24) - 1}) {
      const auto written = write({whole}, {.fresh_flows = true}, loop);
      EXPECT_EQ(written->checksums, ChecksumState::good) << kind;
      EXPECT_NE(written->bytes, last);
      last = written->bytes;
      const bool ipv4 = written->datagram.version == 4;
      const std::size_t source = ipv4 ? 26 : 22, bytes = ipv4 ? 4 : 16;
      for (std::size_t i = 0; i < bytes; ++i) {
        const auto changed = [&](std::size_t at) { return written->bytes[at] ^ whole[at]; };
        EXPECT_EQ(changed(source + i), changed(source + bytes + i));
        EXPECT_TRUE(i + 3 >= bytes || changed(source + i) == 0) << "what kind of address it is";
      }
      for (const std::size_t at : {source + 2 * bytes, source + 2 * bytes + 3})
        EXPECT_EQ(written->bytes[at], whole[at]) << "ports";
    }
  }
}

TEST(Replay, KeepsTheChecksumOfADatagramInFragments) {
  const Bytes whole = built_in("protocol=udp,size=200");
  Bytes first(whole.begin(), whole.begin() + 14 + 20 + 80);
  put16(&first[16], 100);
  first[20] = 0x20;  // more fragments
  const auto written = write({first}, {.fresh_flows = true}, 5);
  // Put together again, it is good: the rest of the payload, and the changed addresses.
  Bytes again = whole;
  std::copy(written->bytes.begin() + 26, written->bytes.begin() + 34 + 8, again.begin() + 26);
  Datagram datagram;
  const Frame frame(again.data(), again.size(), again.size());
  ASSERT_EQ(find_datagram(frame, LinkType::ethernet, IpHeader::outermost, datagram), Verdict::counted);
  put16(&again[24], 0);
  put16(&again[24], header_checksum(&again[14]));
  EXPECT_EQ(check_checksums(again.data(), again.size(), datagram), ChecksumState::good);
  EXPECT_NE(Bytes(again.begin() + 26, again.begin() + 34), Bytes(whole.begin() + 26, whole.begin() + 34));
}

TEST(Replay, PutsPacketsOfOtherLinksBehindAnEthernetHeader) {
  const Bytes whole = built_in("protocol=udp,size=100");
  const auto written = write({.bytes = Bytes(whole.begin() + 14, whole.end()), .link_type = LinkType::raw});
  ASSERT_TRUE(written);
  EXPECT_EQ(written->bytes, whole);
  Captured cut{.bytes = Bytes(whole.begin() + 14, whole.begin() + 60), .wire_bytes = 82, .link_type = LinkType::raw};
  EXPECT_EQ(write(cut)->bytes.size(), 96u);
  EXPECT_EQ(write(cut)->checksums, ChecksumState::good);
  EXPECT_FALSE(write({.bytes = Bytes(40, 0x11), .link_type = LinkType::raw})) << "no IP";
}

TEST(Replay, SetsMacAddresses) {
  const Bytes whole = built_in("protocol=udp,size=100");
  const MacAddress source{1, 2, 3, 4, 5, 6}, destination{7, 8, 9, 10, 11, 12};
  const auto written = write({whole}, {.source_mac = source, .destination_mac = destination});
  EXPECT_EQ(Bytes(written->bytes.begin(), written->bytes.begin() + 12), (Bytes{7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(Bytes(written->bytes.begin() + 12, written->bytes.end()), Bytes(whole.begin() + 12, whole.end()));
}

TEST(Replay, MendsWrongChecksumsWhereAsked) {
  for (const char* kind : kKinds) {
    Bytes frame = built_in(kind);
    frame.back() ^= 0x55;
    EXPECT_EQ(write({frame})->checksums, ChecksumState::wrong);
    EXPECT_EQ(write({frame}, {.fix_checksums = true})->checksums, ChecksumState::good);
  }
}

TEST(Replay, SurvivesAnything) {
  SplitMix64 random(1);
  const Bytes frames[] = {built_in(kKinds[0]), built_in(kKinds[1]), built_in(kKinds[2]), built_in(kKinds[3])};
  const LinkType links[] = {LinkType::ethernet, LinkType::raw, LinkType::linux_sll, LinkType::null,
                            LinkType::ieee802_11};
  for (int i = 0; i < 200'000; ++i) {
    Captured captured{.bytes = frames[random.below(4)], .link_type = links[random.below(std::size(links))]};
    for (std::uint64_t n = random.below(6); n > 0; --n)
      captured.bytes[random.below(80)] = static_cast<std::uint8_t>(random());
    captured.bytes.resize(random.below(captured.bytes.size() + 1));
    captured.wire_bytes = static_cast<std::uint32_t>(random.below(2) != 0 ? random.below(2000) : 0);
    ReplayChanges changes{.fresh_flows = random.below(2) != 0, .fix_checksums = random.below(2) != 0};
    if (random.below(2) != 0) changes.most_bytes = static_cast<std::uint32_t>(64 + random.below(200));
    if (random.below(2) != 0) changes.least_bytes = 64;
    write(captured, changes, random.below(3));
  }
}

}  // namespace
}  // namespace parshall
