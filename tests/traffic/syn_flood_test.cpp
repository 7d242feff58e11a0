// SPDX-License-Identifier: Apache-2.0
#include "traffic/syn_flood.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <set>
#include <string>

#include "traffic/frame.hpp"
#include "traffic/memory_source.hpp"
#include "traffic/paced_source.hpp"

namespace parshall {
namespace {

std::shared_ptr<const Trace> flood_trace(double flood, std::uint32_t frame_bytes = 128, std::uint64_t seed = 1) {
  auto made = Trace::make({.flows = 50, .sizes = frame_bytes, .flood_share = flood, .seed = seed, .packets = 5000});
  EXPECT_TRUE(made);
  return std::make_shared<const Trace>(*std::move(made));
}

std::vector<std::string> play(PacketSource& source, std::size_t packets) {
  std::vector<std::string> frames;
  std::array<RawPacket, 100> batch;
  while (frames.size() < packets) {
    const std::size_t count = source.poll({batch.data(), std::min(batch.size(), packets - frames.size())});
    for (const RawPacket& packet : std::span(batch).first(count)) {
      EXPECT_EQ(packet.captured_bytes, packet.wire_bytes);
      frames.emplace_back(reinterpret_cast<const char*>(packet.data), packet.captured_bytes);
    }
  }
  return frames;
}

bool is_syn(const std::string& frame) { return frame.size() == SynFlood::kBytes && frame[23] == 6 && frame[47] == 2; }

TEST(SynFlood, IsItsShareOfThePacketsAndNoneIsLikeAnotherThoughTheTraceRepeats) {
  for (const double share : {0.0, 0.25, 1.0}) {
    MemorySource source(flood_trace(share), 50'000);
    std::set<std::string> syns;
    std::size_t count = 0;
    for (const std::string& frame : play(source, 50'000)) {
      if (!is_syn(frame)) {
        ASSERT_EQ(frame.size(), 124u);
        continue;
      }
      ++count;
      const auto* const ip = reinterpret_cast<const std::uint8_t*>(frame.data()) + kEthernetBytes;
      ASSERT_EQ(header_checksum(ip), 0) << "of a header with its checksum";
      syns.insert(frame.substr(26));
    }
    EXPECT_NEAR(static_cast<double>(count), share * 50'000, share == 0.25 ? 1500 : 0);
    EXPECT_EQ(syns.size(), count);
  }
}

TEST(SynFlood, LeavesTheOtherPacketsAsTheyAreWithoutIt) {
  MemorySource with(flood_trace(0.5), 10'000), without(flood_trace(0), 10'000);
  const auto flooded = play(with, 10'000), plain = play(without, 10'000);
  for (std::size_t i = 0; i < flooded.size(); ++i) {
    if (!is_syn(flooded[i])) {
      ASSERT_EQ(flooded[i], plain[i]);
    }
  }
}

TEST(SynFlood, IsTheSameForTheSameSeedInEverySource) {
  MemorySource memory(flood_trace(0.5), 20'000);
  std::uint64_t now_ns = 0;
  PacedSource paced(flood_trace(0.5), Pace(1e7), 4096, 0, [&now_ns] { return now_ns += 1000; });
  const auto frames = play(memory, 20'000);
  EXPECT_EQ(frames, play(paced, 20'000));
  MemorySource other(flood_trace(0.5, 128, 2), 20'000);
  const auto others = play(other, 20'000);
  std::size_t alike = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) alike += is_syn(frames[i]) && frames[i] == others[i];
  EXPECT_EQ(alike, 0u);
}

TEST(SynFlood, ItsFramesStayUntilTheSecondPollAfter) {
  MemorySource source(flood_trace(1), 100'000);
  std::vector<RawPacket> batch(4096), later(4096);
  source.poll(batch);
  std::vector<std::string> frames;
  for (const RawPacket& packet : batch) frames.emplace_back(reinterpret_cast<const char*>(packet.data), 60);
  source.poll(later);
  for (std::size_t i = 0; i < batch.size(); ++i) ASSERT_EQ(std::memcmp(batch[i].data, frames[i].data(), 60), 0);
}

}  // namespace
}  // namespace parshall
