// SPDX-License-Identifier: Apache-2.0
#include "pipeline/flow/in_flight.hpp"

#include <gtest/gtest.h>

#include "facts.hpp"
#include "pipeline/flow/front_end.hpp"

namespace parshall {
namespace {

using namespace testing;

TEST(InFlight, HandsOutWhatWasPushedOldestFirstAcrossItsWrap) {
  InFlight window;
  SplitMix64 random(1);
  std::uint64_t in = 0, out = 0, pushes = 0, groups = 0;
  while (out < 5000) {
    const std::size_t count = 1 + random.below(kGroup);
    InFlight::Cursor to(window);
    if (PacketFacts* const group = count == kGroup ? to.group() : nullptr; group != nullptr) {
      for (std::size_t i = 0; i < kGroup; ++i) group[i].time_ns = in++;
      to.advance_group();
    } else {
      for (std::size_t i = 0; i < count; ++i, to.advance()) to->time_ns = in++;
    }
    ASSERT_EQ(window.push(to), count);
    std::uint64_t newest = in - count;
    window.visit_newest(count, [&](const PacketFacts& facts) { ASSERT_EQ(facts.time_ns, newest++); });
    ASSERT_EQ(newest, in);
    if (in >= kGroup) {
      const PacketFacts* const group = window.newest_group();
      groups += group != nullptr;
      for (std::size_t i = 0; group != nullptr && i < kGroup; ++i) ASSERT_EQ(group[i].time_ns, in - kGroup + i);
    }
    pushes += in >= kGroup;
    while (window.size() > InFlight::kDistance) {
      const auto oldest = window.oldest(std::min(kGroup, window.size() - InFlight::kDistance));
      ASSERT_FALSE(oldest.empty());
      for (std::size_t i = 0; i < oldest.size(); ++i) {
        ASSERT_EQ(window.place(i).position, out);
        ASSERT_EQ(oldest[i].time_ns, out++);
      }
      window.pop(oldest.size());
    }
  }
  EXPECT_EQ(window.pushed(), in);
  EXPECT_GT(groups, pushes * 9 / 10) << "a group is cut by the ring's end only";
  EXPECT_LT(groups, pushes);
}

TEST(InFlight, KeepsThePositionsOfPacketsWhoseNeighboursWentElsewhere) {
  InFlight window;
  SplitMix64 random(2);
  std::vector<std::uint64_t> positions;
  std::uint64_t at = 0;
  std::size_t out = 0;
  for (int i = 0; i < 5000; ++i) {
    at += 1 + random.below(5);
    positions.push_back(at);
    window.next().time_ns = at;
    window.push_at({.position = at, .latest_ns = at + 1});
    if (window.size() < InFlight::kDistance) continue;
    for (const auto& facts : window.oldest(1)) {
      ASSERT_EQ(facts.time_ns, positions[out]);
      ASSERT_EQ(window.place(0).latest_ns, positions[out] + 1);
      ASSERT_EQ(window.place(0).position, positions[out++]);
    }
    window.pop(1);
  }
}

TEST(Partition, EveryHashBelongsToExactlyOneWorkerAndAllWorkersGetAlikeMuch) {
  for (const std::uint32_t of : {1u, 2u, 3u, 4u, 7u, 256u}) {
    std::vector<unsigned> taken(of);
    constexpr unsigned kHashes = 100'000;
    for (unsigned i = 0; i < kHashes; ++i) {
      const std::uint64_t hash = SplitMix64::mix(i);
      unsigned takers = 0;
      for (std::uint32_t index = 0; index < of; ++index) takers += Partition{index, of}.takes(hash);
      ASSERT_EQ(takers, 1u);
      ++taken[Partition::index_of(hash, of)];
    }
    for (const unsigned n : taken) ASSERT_NEAR(n, kHashes / of, 6 * std::sqrt(kHashes / of));
  }
}

TEST(EndReason, NamesStandAtTheirPlaces) {
  const auto name_of = [](EndReason reason) { return kEndReasonNames[static_cast<std::size_t>(reason)]; };
  EXPECT_EQ(name_of(EndReason::none), "");
  EXPECT_EQ(name_of(EndReason::idle_timeout), "idle");
  EXPECT_EQ(name_of(EndReason::active_timeout), "active");
  EXPECT_EQ(name_of(EndReason::lack_of_resources), "evicted");
}

}  // namespace
}  // namespace parshall
