// SPDX-License-Identifier: Apache-2.0
#include "traffic/conversations.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "read_segment.hpp"
#include "traffic/paced_source.hpp"

namespace parshall {
namespace {

/// What one end of a connection has sent, as whoever follows both ends knows it.
struct End {
  std::optional<std::uint32_t> next;  ///< of its sequence numbers; nothing: nobody has named one
  std::uint32_t last = 0;             ///< bytes of its last segment
  std::uint64_t data = 0, again = 0;
};

/// Follows all connections of a trace over its rounds: every segment is the next, or the last once more, and
/// acknowledges all that was sent.
std::map<std::uint32_t, End> follow(const std::shared_ptr<const Trace>& trace, std::size_t rounds) {
  std::map<std::uint32_t, End> ends;
  std::uint64_t number = 0;
  play(trace, rounds, [&](const RawPacket& packet) {
    const std::uint64_t at = number++ % trace->packets();
    if (trace->floods() && trace->is_flood(at)) return;
    const Read segment = read(packet, trace->flow_of(at));
    End &end = ends[segment.flow], &peer = ends[segment.flow ^ 1];
    if (!peer.next) peer.next = segment.acknowledgment;
    ASSERT_EQ(segment.acknowledgment, *peer.next) << number;
    if (!end.next) end.next = segment.sequence;
    if (segment.sequence == *end.next) {
      *end.next += segment.payload_bytes;
      end.last = segment.payload_bytes;
      end.data += segment.payload_bytes != 0;
    } else {
      ASSERT_EQ(segment.sequence, *end.next - end.last) << number;
      ASSERT_EQ(segment.payload_bytes, end.last);
      ++end.again;
    }
  });
  return ends;
}

TEST(Conversations, GoOnWithoutAGapThroughAllRepetitions) {
  for (const char* more : {"", ",size=imix", ",size=1518,ipv6=0.5", ",dist=zipf:1.1", ",dist=ladder,vlan=1.2,ipv6=0.5",
                           ",flood=0.3", ",addresses=benchmark,seed=9", ",resend=0.2", ",flows=3,packets=5"}) {
    SCOPED_TRACE(more);
    const std::string text = std::string(more).find("flows=") == std::string::npos ? "flows=40,packets=3000" : "";
    const bool resends = std::string(more).find("resend") != std::string::npos;
    std::uint64_t data = 0, again = 0;
    for (const auto& [flow, end] :
         follow(trace_of("protocol=connections" + (text.empty() ? "" : "," + text) + more), 5)) {
      data += end.data;
      again += end.again;
    }
    EXPECT_GT(data, 0u);
    EXPECT_EQ(again > 0, resends);
  }
}

TEST(Conversations, OfWhichOneEndNeverSendsHaveNoData) {
  const auto ends = follow(trace_of("protocol=connections,flows=3000,packets=3000,dist=zipf:1.1"), 3);
  std::size_t alone = 0;
  for (const auto& [flow, end] : ends)
    if (end.data != 0)
      EXPECT_GT(ends.at(flow ^ 1).data, 0u) << flow;
    else
      ++alone;
  EXPECT_GT(alone, 100u);
}

TEST(Conversations, AndSessionsHavePortsThatMeanNothing) {
  for (const char* spec : {"protocol=connections", "protocol=sessions", "protocol=connections,addresses=benchmark"})
    play(trace_of(std::string(spec) + ",flows=2000,packets=20000,ipv6=0.5"), 1, [&](const RawPacket& packet) {
      const FlowKey key = key_of(packet);
      ASSERT_GE(std::min(key.src_port(), key.dst_port()), 49152) << spec;
    });
}

TEST(Conversations, AreTheSameAtAPaceFromAnyPacketOn) {
  constexpr std::size_t kFrom = 6017;
  const auto trace = trace_of("protocol=connections,flows=40,packets=3000,size=imix");
  const auto text = [](const RawPacket& packet) {
    return std::string(reinterpret_cast<const char*>(packet.data), packet.captured_bytes);
  };
  std::vector<std::string> frames;
  play(trace, 5, [&](const RawPacket& packet) { frames.push_back(text(packet)); });
  std::uint64_t now_ns = 0;
  PacedSource paced(trace, Pace(1e9), 1000, 0, [&now_ns] { return now_ns; });
  paced.play_from(kFrom);
  std::array<RawPacket, 100> batch;
  std::size_t at = kFrom;
  for (; now_ns <= 5000; now_ns += 100) {
    const std::size_t count = paced.poll(batch);
    for (const RawPacket& packet : std::span(batch).first(count)) ASSERT_EQ(text(packet), frames[at++]);
  }
  EXPECT_EQ(at, kFrom + 5000);
}

}  // namespace
}  // namespace parshall
