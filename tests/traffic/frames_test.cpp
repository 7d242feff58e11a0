// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "played.hpp"

namespace parshall {
namespace {

/// Of the least frame with headers of every kind, of longer ones, of what is made as it is played.
TEST(Checksums, AreRightInEveryFrameOfBuiltInTraffic) {
  for (const char* spec : {
           "flows=3000,packets=6000",
           "flows=3000,packets=6000,ipv6=0.5,seed=9",
           "flows=3000,packets=6000,ipv6=0.5,size=1518",
           "flows=3000,packets=6000,size=65",
           "flows=3000,packets=6000,size=imix,ipv6=0.5",
           "flows=3000,packets=6000,protocol=udp,ipv6=0.5,size=201",
           "flows=30,packets=6000,protocol=connections,resend=0.2,ipv6=0.5,size=300",
           "flows=3000,packets=6000,protocol=connections,dist=zipf:1.1",  // most of it without data
           "flows=30,packets=6000,flood=0.5",
           "flows=1,packets=200000,flood=1",  // long enough for every carry
           "flows=7,packets=6000,dist=trains:5",
           "flows=7,packets=6000,dist=trains:5,size=1517",
       }) {
    SCOPED_TRACE(spec);
    play(trace_of(spec), 2, [](const RawPacket& packet) {
      ASSERT_EQ(check_checksums(packet.data, packet.captured_bytes, datagram_of(packet)), ChecksumState::good);
    });
  }
}

/// One of 65,535 sums is 0, which for UDP would say that there is none.
TEST(Checksums, AreThereWhereTheSumIsNothing) {
  std::size_t of_nothing = 0;
  play(trace_of("flows=400000,packets=400000,protocol=udp"), 1, [&](const RawPacket& packet) {
    const Datagram datagram = datagram_of(packet);
    ASSERT_EQ(check_checksums(packet.data, packet.captured_bytes, datagram), ChecksumState::good);
    of_nothing += get16(packet.data + datagram.payload_at + 6) == 0xFFFF;
  });
  EXPECT_GT(of_nothing, 0u);
}

}  // namespace
}  // namespace parshall
