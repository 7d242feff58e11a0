// SPDX-License-Identifier: Apache-2.0
#include "traffic/flow_trains.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>

#include "traffic/frame.hpp"
#include "traffic/memory_source.hpp"
#include "traffic/paced_source.hpp"

namespace parshall {
namespace {

std::shared_ptr<const Trace> trains_trace(const std::string& spec) {
  const auto parsed = TrafficSpec::parse(spec, TrafficSpec::kAll);
  EXPECT_TRUE(parsed) << parsed.error().message;
  auto made = Trace::make(*parsed);
  EXPECT_TRUE(made);
  return std::make_shared<const Trace>(*std::move(made));
}

std::string trains_problem(const std::string& spec) {
  const auto parsed = TrafficSpec::parse(spec, TrafficSpec::kAll);
  return parsed ? "" : parsed.error().message;
}

/// The five-tuples of packets, each checked on its way.
std::vector<std::string> flows_of(PacketSource& source, std::size_t packets, std::size_t batch_size = 100) {
  std::vector<std::string> flows;
  std::vector<RawPacket> batch(batch_size);
  while (flows.size() < packets) {
    const std::size_t count = source.poll({batch.data(), std::min(batch.size(), packets - flows.size())});
    for (const RawPacket& packet : std::span(batch).first(count)) {
      EXPECT_EQ(header_checksum(packet.data + kEthernetBytes), 0) << "of a header with its checksum";
      EXPECT_EQ(packet.captured_bytes, packet.wire_bytes);
      flows.emplace_back(reinterpret_cast<const char*>(packet.data + 26), 12);
    }
  }
  return flows;
}

TEST(FlowTrains, HaveTheirPacketsOneAfterTheOtherAndNeverComeAgain) {
  MemorySource source(trains_trace("flows=1,dist=trains:5,packets=1000"), 5000);
  const auto flows = flows_of(source, 5000);
  std::map<std::string, std::size_t> packets;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    ASSERT_EQ(flows[i], flows[i / 5 * 5]) << i;
    ++packets[flows[i]];
  }
  EXPECT_EQ(packets.size(), 1000u) << "though the trains_trace repeats five times";
  for (const auto& [flow, count] : packets) ASSERT_EQ(count, 5u);
}

TEST(FlowTrains, TakeTurnsWithAsManyOthersAsThereAreTogether) {
  for (const std::size_t batch : {1u, 7u, 256u}) {
    MemorySource source(trains_trace("flows=10,dist=trains:3,packets=777"), 9000);
    const auto flows = flows_of(source, 9000, batch);
    std::map<std::string, std::size_t> packets;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      ASSERT_EQ(flows[i], flows[i / 30 * 30 + i % 10]) << i;
      ++packets[flows[i]];
    }
    ASSERT_EQ(packets.size(), 3000u);
  }
}

TEST(FlowTrains, AreOfFramesOfTheSizeThatWasAsked) {
  MemorySource source(trains_trace("flows=1,dist=trains:2,size=1500"), 10);
  std::array<RawPacket, 10> packets;
  ASSERT_EQ(source.poll(packets), 10u);
  for (const RawPacket& packet : packets) {
    EXPECT_EQ(packet.captured_bytes, 1496u);
    EXPECT_EQ(packet.data[16] << 8 | packet.data[17], 1482);
    EXPECT_EQ(packet.data[23], 6) << "TCP";
  }
  EXPECT_NE(packets[0].data, packets[1].data) << "a packet stays as it is while later ones are made";
}

TEST(FlowTrains, ComeAtAPaceToo) {
  std::uint64_t now_ns = 0;
  PacedSource source(trains_trace("flows=1,dist=trains:5,pace=1000000"), Pace(1e6, 0), 4096, 0,
                     [&] { return now_ns += 10'000; });
  const auto flows = flows_of(source, 3000);
  for (std::size_t i = 0; i < flows.size(); ++i) ASSERT_EQ(flows[i], flows[i / 5 * 5]) << i;
}

TEST(FlowTrains, AreRefusedWithWhatTheyDoNotHave) {
  EXPECT_NE(trains_problem("dist=trains:0"), "");
  EXPECT_NE(trains_problem("dist=trains:5,ipv6=0.5"), "");
  EXPECT_NE(trains_problem("dist=trains:5,flood=0.5"), "");
  EXPECT_NE(trains_problem("dist=trains:5,protocol=connections"), "");
  EXPECT_FALSE(TrafficSpec::parse("dist=trains:5")) << "the lab's experiments know which flow a packet is of";
}

}  // namespace
}  // namespace parshall
