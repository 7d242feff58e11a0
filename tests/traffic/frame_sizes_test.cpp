// SPDX-License-Identifier: Apache-2.0
#include "traffic/frame_sizes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "played.hpp"
#include "traffic/paced_source.hpp"

namespace parshall {
namespace {

using Counts = std::map<std::uint32_t, std::uint64_t>;

Counts dealt(const char* text, std::uint64_t frames) {
  Counts counts;
  for (const std::uint16_t bytes : FrameSizes::parse(text)->deal(frames, 1)) ++counts[bytes];
  return counts;
}

TEST(FrameSizes, AreDealtInTheirProportionsToWithinOneFrame) {
  EXPECT_EQ(dealt("imix", 12'000), (Counts{{64, 7000}, {570, 4000}, {1518, 1000}}));
  EXPECT_EQ(dealt("64:1+1518:3", 4), (Counts{{64, 1}, {1518, 3}}));
  EXPECT_EQ(dealt("100", 5), (Counts{{100, 5}}));
  for (const std::uint64_t frames : {1u, 7u, 1000u, 9999u}) {
    for (const auto& [bytes, count] : dealt("64:700000+65:400000+66:100000", frames)) {
      const double share = bytes == 64 ? 7 / 12.0 : bytes == 65 ? 4 / 12.0 : 1 / 12.0;
      EXPECT_LT(std::abs(static_cast<double>(count) - share * static_cast<double>(frames)), 1)
          << frames << " " << bytes;
    }
  }
  const Counts range = dealt("64-1518", 1455 * 3);
  EXPECT_EQ(range.size(), 1455u);
  for (const auto& [bytes, count] : range) EXPECT_EQ(count, 3u) << bytes;
}

TEST(FrameSizes, AreShuffled) {
  const std::vector<std::uint16_t> sizes = FrameSizes::parse("64:1+1518:1")->deal(100'000, 1);
  std::uint64_t alike = 0, in_first_half = 0;
  for (std::size_t i = 1; i < sizes.size(); ++i) alike += sizes[i] == sizes[i - 1];
  for (std::size_t i = 0; i < sizes.size() / 2; ++i) in_first_half += sizes[i] == 64;
  EXPECT_NEAR(static_cast<double>(alike), 50'000, 1000);
  EXPECT_NEAR(static_cast<double>(in_first_half), 25'000, 700);
  EXPECT_NE(sizes, FrameSizes::parse("64:1+1518:1")->deal(100'000, 2));
}

TEST(FrameSizes, SayWhatIsNone) {
  for (const char* wrong : {"", "63", "9019", "imix2", "64-", "-64", "1518-64", "64-9019", "64:0", "64:", ":1", "64:1+",
                            "64:1+1518", "64:1,1518:1", "63:1+64:1", "64:1000001", "64:1+570:-1", "64 "})
    EXPECT_FALSE(FrameSizes::parse(wrong)) << wrong;
}

Counts lengths(const std::shared_ptr<const Trace>& trace) {
  Counts counts;
  play(trace, 1, [&](const RawPacket& packet) {
    EXPECT_EQ(packet.captured_bytes, packet.wire_bytes);
    ++counts[packet.captured_bytes];
  });
  return counts;
}

TEST(Trace, HasFramesOfManySizesExactlyInTheirProportionsWhateverItsFlows) {
  for (const char* more : {"", ",dist=zipf:1.1", ",protocol=connections", ",protocol=udp"}) {
    const auto trace = trace_of(std::string("flows=100,packets=12000,size=imix") + more);
    EXPECT_EQ(lengths(trace), (Counts{{60, 7000}, {566, 4000}, {1514, 1000}})) << more;
    EXPECT_EQ(trace->longest_frame(), 1514u);
    EXPECT_FALSE(trace->alike());
    for (std::uint64_t i = 0; i < trace->packets(); ++i)
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(trace->frame(i)) % 64, 0u);
  }
  EXPECT_EQ(lengths(trace_of("flows=100,packets=1200,size=imix,ipv6=1")), (Counts{{74, 700}, {566, 400}, {1514, 100}}))
      << "a frame has room for its headers";
  EXPECT_TRUE(trace_of("flows=100,packets=1200,size=64-64")->alike());
}

/// Each flow has its sizes in the trace's proportions, as far as chance has it.
TEST(Trace, DrawsSizesApartFromFlows) {
  const auto trace = trace_of("flows=4,packets=120000,size=imix");
  std::map<std::uint32_t, Counts> of_flow;
  for (std::uint64_t i = 0; i < trace->packets(); ++i) ++of_flow[trace->flow_of(i)][trace->frame_bytes(i)];
  for (auto& [flow, counts] : of_flow) {
    EXPECT_NEAR(static_cast<double>(counts[60]), 17'500, 500);
    EXPECT_NEAR(static_cast<double>(counts[1514]), 2500, 250);
  }
}

TEST(Trace, PlaysFramesOfManySizesTheSameInEverySource) {
  const auto trace = trace_of("flows=100,packets=777,size=64-1518,flood=0.1");
  std::uint64_t now_ns = 0;
  MemorySource memory(trace, 5000);
  PacedSource paced(trace, Pace(1e7), 4096, 0, [&now_ns] { return now_ns += 1000; });
  std::vector<std::string> frames, others;
  const auto into = [](std::vector<std::string>& all) {
    return [&all](const RawPacket& packet) {
      all.emplace_back(reinterpret_cast<const char*>(packet.data), packet.captured_bytes);
    };
  };
  play(memory, 5000, into(frames));
  play(paced, 5000, into(others));
  EXPECT_EQ(frames, others);
  for (std::size_t i = 0; i < frames.size(); ++i)
    if (!trace->is_flood(i % 777)) {
      ASSERT_EQ(frames[i].size(), trace->frame_bytes(i % 777)) << i;
    }
}

TEST(TrafficSpec, RefusesManySizesWhereFramesHaveToBeAlike) {
  EXPECT_FALSE(TrafficSpec::parse("dist=trains:5,size=imix", TrafficSpec::kAll));
  EXPECT_FALSE(TrafficSpec::parse("protocol=connections,resend=0.1,size=imix"));
  EXPECT_TRUE(TrafficSpec::parse("protocol=connections,size=imix"));
}

}  // namespace
}  // namespace parshall
