// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <thread>

#include "base/random.hpp"
#include "engine/worker.hpp"

namespace parshall {
namespace {

/// The writer runs into a full ring all the time, the reader releases a little at a time.
TEST(FactsRing, AWriterOnAFullRingAlwaysHasAPlaceForThePacketThatItHasRoomFor) {
  constexpr std::uint64_t kPackets = 4'000'000;
  FactsRing ring(64);
  std::thread writer([&ring] {
    PacketFacts facts{};
    for (std::uint64_t i = 0; i < kPackets; ++i) {
      facts.time_ns = i;
      for (unsigned turns = 0; !ring.stage(facts, {i ^ 0xABCD, i}, {}); ++turns) {
        ring.flush();
        if (turns > 2000) std::this_thread::yield();
      }
    }
    ring.flush();
  });
  SplitMix64 random(1);
  std::uint64_t next = 0, wrong = 0;
  while (next < kPackets) {
    const auto facts = ring.readable(1 + random.below(8));
    const auto places = ring.places(facts.size());
    ASSERT_EQ(places.size(), facts.size());
    for (std::size_t i = 0; i < facts.size(); ++i, ++next)
      wrong += facts[i].time_ns != next || places[i].position != (next ^ 0xABCD) || places[i].latest_ns != next;
    ring.release(facts.size());
    if (facts.empty()) std::this_thread::yield();
  }
  writer.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace parshall
