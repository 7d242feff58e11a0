// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "played.hpp"
#include "traffic/trailer.hpp"

namespace parshall {
namespace {

using ::testing::HasSubstr;

std::string bytes_of(const RawPacket& packet, std::size_t at, std::size_t count) {
  return {reinterpret_cast<const char*>(packet.data) + at, count};
}

std::vector<FlowKey> keys_of(const std::string& spec) {
  std::vector<FlowKey> keys;
  play(trace_of(spec), 1, [&](const RawPacket& packet) { keys.push_back(key_of(packet)); });
  return keys;
}

constexpr const char* kHeaderKinds[] = {
    "flows=100,packets=3000,ipv6=0.3", "flows=100,packets=3000,flood=0.3", "flows=10,packets=3000,dist=trains:5",
    "flows=100,packets=3000,protocol=connections", "flows=100,packets=3000,size=imix"};

TEST(VlanTags, StandBeforeTheTypeAndChangeNothingElse) {
  using namespace std::string_literals;
  for (const std::string kind : kHeaderKinds) {
    SCOPED_TRACE(kind);
    const std::vector<FlowKey> untagged = keys_of(kind);
    for (const auto& [vlan, tags] :
         {std::pair{",vlan=100", "\x81\0\0\x64"s}, std::pair{",vlan=4094.200", "\x88\xA8\x0F\xFE\x81\0\0\xC8"s}}) {
      std::size_t at = 0;
      play(trace_of(kind + vlan), 1, [&, &expected = tags](const RawPacket& packet) {
        ASSERT_EQ(bytes_of(packet, 12, expected.size()), expected);
        ASSERT_EQ(key_of(packet), untagged[at]);
        ASSERT_EQ(check_checksums(packet.data, packet.captured_bytes, datagram_of(packet)), ChecksumState::good);
        ++at;
      });
    }
  }
}

TEST(VlanTags, AreWithinTheSizeThatWasAskedForWhereHeadersHaveRoom) {
  for (const auto& [spec, bytes] :
       {std::pair{"size=100,vlan=7", 96u}, std::pair{"size=64,vlan=7", 60u}, std::pair{"size=64,vlan=7.8", 62u},
        std::pair{"size=64,vlan=7.8,ipv6=1", 82u}, std::pair{"size=64,vlan=7.8,dist=trains:3", 62u},
        std::pair{"size=64,vlan=7.8,flood=1", 62u}, std::pair{"vlan=7,flood=1", 60u}})
    play(trace_of("flows=3,packets=10," + std::string(spec)), 1,
         [&text = spec, expected = bytes](const RawPacket& packet) {
           EXPECT_EQ(packet.captured_bytes, expected) << text;
           const Datagram datagram = datagram_of(packet);
           EXPECT_LE(datagram.end, expected) << text;
         });
}

TEST(MacAddresses, AreThoseThatWereAskedForInAllFrames) {
  using namespace std::string_literals;
  for (const std::string kind : kHeaderKinds) {
    play(trace_of(kind), 1,
         [](const RawPacket& packet) { ASSERT_EQ(bytes_of(packet, 0, 12), "\2\0\0\0\0\2\2\0\0\0\0\1"s); });
    play(trace_of(kind + ",src-mac=02:00:0a:0B:fF:01,dst-mac=00:11:22:33:44:55"), 1, [](const RawPacket& packet) {
      ASSERT_EQ(bytes_of(packet, 0, 12), "\x00\x11\x22\x33\x44\x55\x02\x00\x0A\x0B\xFF\x01"s);
    });
  }
}

TEST(TrafficSpec, RefusesTagsAndAddressesThatAreNone) {
  for (const char* wrong : {"vlan=0", "vlan=4095", "vlan=1.", "vlan=.1", "vlan=1.2.3", "vlan=0.5", "src-mac=",
                            "src-mac=02:00:00:00:00", "src-mac=02:00:00:00:00:0g", "src-mac=02:00:00:00:00:000",
                            "dst-mac=02-00-00-00-00-00", "dst-mac=02:00:00:00:00:-1", "addresses=private"})
    EXPECT_FALSE(TrafficSpec::parse(wrong)) << wrong;
}

TrafficSpec with_trailer(const std::string& text) {
  TrafficSpec spec = *TrafficSpec::parse(text, TrafficSpec::kAll);
  spec.trailer = true;
  return spec;
}

TEST(Trailers, EndThePayloadAndHaveTheNumberOfTheFlow) {
  for (const char* text : {"size=74", "size=75", "size=64,protocol=udp", "size=imix,protocol=udp", "size=94,ipv6=0.5",
                           "size=99-131,ipv6=0.5,vlan=1", "size=102,ipv6=0.5,vlan=1.2"}) {
    SCOPED_TRACE(text);
    const auto trace = trace_of(with_trailer("flows=200,packets=5000," + std::string(text)));
    std::size_t at = 0;
    play(trace, 1, [&](const RawPacket& packet) {
      const Datagram datagram = datagram_of(packet);
      ASSERT_EQ(datagram.end, packet.captured_bytes);
      const auto trailer = Trailer::read(packet.data + datagram.end - Trailer::kBytes);
      ASSERT_TRUE(trailer);
      ASSERT_EQ(trailer->stream, trace->flow_of(at));
      ASSERT_EQ(trailer->sequence, 0u);
      ASSERT_EQ(trailer->time_ns, 0u);
      const std::size_t header_bytes = datagram.protocol == 6 ? 20 : 8;
      ASSERT_GE(datagram.end - datagram.payload_at, header_bytes + Trailer::kBytes);
      ASSERT_EQ(check_checksums(packet.data, packet.captured_bytes, datagram), ChecksumState::good);
      ++at;
    });
  }
}

TEST(Trailers, AreRefusedWhereAFrameHasNoRoomOrNoFlow) {
  for (const auto& [text, size] :
       {std::pair{"size=73", "size=74"}, std::pair{"size=imix", "size=74"}, std::pair{"size=93,ipv6=1", "size=94"},
        std::pair{"size=64,protocol=udp,ipv6=0.1", "size=82"}, std::pair{"size=64,protocol=udp,vlan=1", "size=66"},
        std::pair{"size=64,vlan=1.2", "size=82"}}) {
    const auto trace = Trace::make(with_trailer(text));
    ASSERT_FALSE(trace) << text;
    EXPECT_THAT(trace.error().message, HasSubstr(size)) << text;
  }
  for (const char* text : {"size=100,dist=trains:5", "size=100,flood=0.1", "size=100,protocol=connections"}) {
    const auto trace = Trace::make(with_trailer(text));
    ASSERT_FALSE(trace) << text;
    EXPECT_THAT(trace.error().message, HasSubstr("leave out")) << text;
  }
}

}  // namespace
}  // namespace parshall
