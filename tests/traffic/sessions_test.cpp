// SPDX-License-Identifier: Apache-2.0
#include "traffic/sessions.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "played.hpp"
#include "read_segment.hpp"

namespace parshall {
namespace {

constexpr unsigned kFin = 1, kSyn = 2, kPsh = 8, kAck = 16;

using Connections = std::map<std::uint32_t, std::vector<Read>>;

/// Of each round, by connection, in their order.
std::vector<Connections> rounds_of(const std::string& spec, std::size_t rounds) {
  const auto trace = trace_of(spec);
  std::vector<Connections> connections(rounds);
  std::uint64_t number = 0;
  play(trace, rounds, [&](const RawPacket& packet) {
    const std::uint64_t at = number % trace->packets();
    if (!trace->floods() || !trace->is_flood(at))
      connections[number / trace->packets()][trace->flow_of(at) / 2].push_back(read(packet, trace->flow_of(at)));
    ++number;
  });
  return connections;
}

Connections connections_of(const std::string& spec) { return rounds_of(spec, 1).front(); }

/// What a host of each side would say of a segment; nothing lost, reordered or beyond the window.
struct Ends {
  std::uint32_t next[2] = {}, acknowledged[2] = {}, last[2] = {};
  bool closed[2] = {};
  std::uint64_t data = 0, again = 0, pure_acks = 0;

  void take(const Read& segment) {
    const unsigned from = segment.flow & 1, to = from ^ 1;
    ASSERT_EQ(segment.acknowledgment, next[to]) << "all that came is acknowledged";
    acknowledged[to] = segment.acknowledgment;
    if (segment.payload_bytes == 0 && segment.flags == kAck) {
      ASSERT_EQ(segment.sequence, next[from]);
      ++pure_acks;
      return;
    }
    ASSERT_FALSE(closed[from]);
    if (segment.flags == (kFin | kAck)) {
      ASSERT_EQ(segment.sequence, next[from]);
      ++next[from];
      closed[from] = true;
      return;
    }
    ASSERT_EQ(segment.flags, kPsh | kAck);
    ASSERT_GT(segment.payload_bytes, 1u) << "one byte sent again is what a keep-alive looks like";
    if (segment.sequence != next[from]) {
      ASSERT_EQ(segment.sequence, next[from] - last[from]) << "only what was sent last comes again";
      ASSERT_EQ(segment.payload_bytes, last[from]) << "and all of it";
      ASSERT_NE(acknowledged[from], next[from]) << "since nobody has acknowledged it";
      ++again;
      return;
    }
    ++data;
    next[from] += last[from] = segment.payload_bytes;
    ASSERT_LE(next[from] - acknowledged[from], 0xFFFFu) << "of a window";
  }
};

void expect_whole(const std::vector<Read>& segments, Ends& ends) {
  ASSERT_GE(segments.size(), 6u);
  ASSERT_EQ(segments[0].flags, kSyn);
  ASSERT_EQ(segments[0].flow % 2, 0u);
  ASSERT_EQ(segments[1].flags, kSyn | kAck);
  ASSERT_EQ(segments[1].flow % 2, 1u);
  ASSERT_EQ(segments[1].acknowledgment, segments[0].sequence + 1);
  ASSERT_EQ(segments[0].payload_bytes + segments[1].payload_bytes, 0u);
  ends.next[0] = segments[0].sequence + 1;
  ends.next[1] = ends.acknowledged[1] = segments[1].sequence + 1;
  ends.acknowledged[0] = segments[1].acknowledgment;
  for (std::size_t i = 2; i < segments.size(); ++i) {
    ASSERT_EQ(segments[i].mss, 0u);
    ASSERT_NO_FATAL_FAILURE(ends.take(segments[i])) << i << " of " << segments.size();
  }
  ASSERT_TRUE(ends.closed[0] && ends.closed[1]);
  ASSERT_EQ(segments.back().flags, kAck) << "of the last FIN";
}

TEST(Sessions, AreWholeConnectionsFromSynToTheAckOfTheLastFin) {
  for (const char* more :
       {"", ",size=imix", ",size=1518,ipv6=0.5", ",size=64-9018,resend=0.2", ",dist=ladder,vlan=1.2,ipv6=0.5",
        ",dist=zipf:0.5,flood=0.3", ",resend=0.5,seed=5,addresses=benchmark"}) {
    SCOPED_TRACE(more);
    const auto connections = connections_of("protocol=sessions,flows=40,packets=20000" + std::string(more));
    EXPECT_EQ(connections.size(), 20u);
    for (const auto& [number, segments] : connections) {
      Ends ends;
      ASSERT_NO_FATAL_FAILURE(expect_whole(segments, ends));
      EXPECT_GT(ends.data, 0u);
    }
  }
}

TEST(Sessions, AreOthersOfTheSameEndsWhenTheirTraceRepeats) {
  for (const char* more : {"", ",size=imix,ipv6=0.5,vlan=1.2", ",resend=0.2,flood=0.3,addresses=benchmark"}) {
    SCOPED_TRACE(more);
    const auto rounds = rounds_of("protocol=sessions,flows=40,packets=5000" + std::string(more), 4);
    std::map<std::uint32_t, Ends> before;
    for (const Connections& connections : rounds) {
      EXPECT_EQ(connections.size(), 20u);
      for (const auto& [number, segments] : connections) {
        Ends ends;
        ASSERT_NO_FATAL_FAILURE(expect_whole(segments, ends));
        EXPECT_EQ(segments[0].acknowledgment, 0u) << "of a SYN";
        if (before.contains(number)) {
          EXPECT_EQ(segments[0].sequence, before[number].next[0]) << "beyond all that the last one had";
          EXPECT_EQ(segments[1].sequence, before[number].next[1]);
        }
        before[number] = ends;
      }
    }
  }
}

TEST(Sessions, SendTheShareOfTheirDataAgain) {
  for (const double share : {0.0, 0.05, 0.5}) {
    Ends all;
    for (const auto& [number, segments] :
         connections_of("protocol=sessions,flows=20,packets=200000,resend=" + std::to_string(share))) {
      Ends ends;
      ASSERT_NO_FATAL_FAILURE(expect_whole(segments, ends));
      all.data += ends.data;
      all.again += ends.again;
      EXPECT_GT(ends.pure_acks, 100u);
    }
    EXPECT_NEAR(static_cast<double>(all.again) / static_cast<double>(all.data), share, share == 0 ? 0 : 0.01);
  }
}

TEST(Sessions, OfFewPacketsHaveTheBeginningOfTheirs) {
  const std::vector<std::vector<unsigned>> kFlags = {
      {kSyn},
      {kSyn, kSyn | kAck},
      {kSyn, kSyn | kAck, kAck},
      {kSyn, kSyn | kAck, kAck, kFin | kAck},
      {kSyn, kSyn | kAck, kAck, kFin | kAck, kFin | kAck},
      {kSyn, kSyn | kAck, kAck, kFin | kAck, kFin | kAck, kAck},
      {kSyn, kSyn | kAck, kAck, kPsh | kAck, kFin | kAck, kFin | kAck, kAck},
  };
  for (const auto& flags : kFlags) {
    const auto connections = connections_of("protocol=sessions,flows=2,packets=" + std::to_string(flags.size()));
    std::vector<unsigned> found;
    for (const Read& segment : connections.at(0)) found.push_back(segment.flags);
    EXPECT_EQ(found, flags);
  }
}

TEST(Sessions, HaveTheirSizesWhereThereIsDataAndTheMaximumSegmentSizeInSyns) {
  std::map<std::uint32_t, std::uint64_t> data;
  const auto trace = trace_of("protocol=sessions,flows=10,packets=30000,size=imix,resend=0.1");
  std::uint64_t at = 0, first = 0;
  std::map<std::uint32_t, std::uint32_t> next;
  play(trace, 1, [&](const RawPacket& packet) {
    const Read segment = read(packet, trace->flow_of(at++));
    if (segment.mss != 0) {
      EXPECT_EQ(segment.mss, 1460u);
      next[segment.flow] = segment.sequence + 1;
    }
    if (segment.payload_bytes == 0) {
      EXPECT_EQ(packet.captured_bytes, 60u);
    } else if (segment.sequence == next[segment.flow]) {
      ++first;
      ++data[packet.captured_bytes];
      next[segment.flow] += segment.payload_bytes;
    }
  });
  for (const auto& [bytes, weight] : {std::pair{60u, 7}, {566u, 4}, {1514u, 1}})
    EXPECT_NEAR(static_cast<double>(data[bytes]), static_cast<double>(first) * weight / 12, 1);
  for (const auto& [spec, mss] : {std::pair{"ipv6=1", 1440u}, {"size=9018", 8960u}, {"size=9018,ipv6=1", 8940u}})
    EXPECT_EQ(connections_of("protocol=sessions,flows=2,packets=9," + std::string(spec)).at(0)[0].mss, mss);
}

TEST(Sessions, AreRefusedWithWhatTheyDoNotHave) {
  for (const char* wrong : {"protocol=sessions,flows=5", "protocol=sessions,flows=4,dist=trains:5", "resend=0.1"})
    EXPECT_FALSE(TrafficSpec::parse(wrong, TrafficSpec::kAll)) << wrong;
  EXPECT_TRUE(conflict_of({.sizes = 500, .protocol = ProtocolMix::sessions, .trailer = true}));
}

}  // namespace
}  // namespace parshall
