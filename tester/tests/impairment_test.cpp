// SPDX-License-Identifier: Apache-2.0
#include "tester/impairment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace parshall::tester {
namespace {

struct Delivery {
  std::uint64_t time_ns;
  std::uint32_t sequence;
  friend bool operator==(const Delivery&, const Delivery&) = default;
};

/// `frames` frames, one each `spacing_ns`, through a link that is looked at whenever something is due.
std::vector<Delivery> deliver(Impairment<std::uint32_t>& link, std::uint32_t frames, std::uint64_t spacing_ns) {
  std::vector<Delivery> deliveries;
  const auto take_until = [&](std::uint64_t now_ns) {
    while (const auto next_ns = link.next_ns()) {
      if (*next_ns > now_ns) return;
      const std::uint64_t at_ns = *next_ns == 0 ? now_ns : *next_ns;
      deliveries.push_back({at_ns, *link.due(at_ns)});
    }
  };
  for (std::uint32_t sequence = 0; sequence < frames; ++sequence) {
    take_until(sequence * spacing_ns);
    link.offer(sequence * spacing_ns, sequence);
    take_until(sequence * spacing_ns);
  }
  take_until(~std::uint64_t{0});
  return deliveries;
}

TEST(Impairment, OnlyDelaysWhereNothingElseWasAsked) {
  Impairment<std::uint32_t> link({.delay_ns = 250});
  EXPECT_EQ(deliver(link, 4, 100), (std::vector<Delivery>{{250, 0}, {350, 1}, {450, 2}, {550, 3}}));
  Impairment<std::uint32_t> wire({});
  EXPECT_EQ(deliver(wire, 3, 100), (std::vector<Delivery>{{0, 0}, {100, 1}, {200, 2}}));
}

TEST(Impairment, TakesDuplicationAndLossAsOneCopyMoreAndOneLess) {
  Impairment<std::uint32_t> all_lost({.loss = 1});
  EXPECT_TRUE(deliver(all_lost, 10, 1).empty());
  EXPECT_EQ(all_lost.counts().lost, 10u);
  Impairment<std::uint32_t> all_twice({.duplicate = 1});
  EXPECT_EQ(deliver(all_twice, 2, 1), (std::vector<Delivery>{{0, 0}, {0, 0}, {1, 1}, {1, 1}}));
  EXPECT_EQ(all_twice.counts().duplicated, 2u);
  Impairment<std::uint32_t> both({.loss = 1, .duplicate = 1});
  EXPECT_EQ(deliver(both, 2, 1), (std::vector<Delivery>{{0, 0}, {1, 1}}));
  EXPECT_EQ(both.counts().lost + both.counts().duplicated, 0u);
}

TEST(Impairment, MayLoseTheSecondCopyOnItsOwn) {
  constexpr std::uint32_t kOffered = 100'000;
  Impairment<std::uint32_t> link({.loss = 0.5, .duplicate = 0.5});
  const auto deliveries = deliver(link, kOffered, 1);
  const double deviation = std::sqrt(kOffered * 0.25);
  EXPECT_NEAR(static_cast<double>(link.counts().lost), kOffered * 0.25, 5 * deviation);         // loss (1 - duplicate)
  EXPECT_NEAR(static_cast<double>(link.counts().duplicated), kOffered * 0.125, 5 * deviation);  // (1 - loss)^2 of it
  EXPECT_EQ(deliveries.size(), kOffered - link.counts().lost + link.counts().duplicated);
}

TEST(Impairment, SendsOneInAGapAtOnce) {
  Impairment<std::uint32_t> link({.reorder = 1, .gap = 3, .delay_ns = 1000});
  EXPECT_EQ(deliver(link, 6, 10),
            (std::vector<Delivery>{{20, 2}, {50, 5}, {1000, 0}, {1010, 1}, {1030, 3}, {1040, 4}}));
  EXPECT_EQ(link.counts().sent_at_once, 2u);
  EXPECT_EQ(link.counts().delayed, 4u);
  Impairment<std::uint32_t> no_gap({.reorder = 1, .gap = 0, .delay_ns = 1000});
  EXPECT_EQ(deliver(no_gap, 2, 10), (std::vector<Delivery>{{1000, 0}, {1010, 1}}));
}

TEST(Impairment, SendsWhatWaitsByTimeThenAsOfferedBehindThoseAtOnce) {
  Impairment<std::uint32_t> link({.reorder = 1, .gap = 4, .delay_ns = 100});
  for (std::uint32_t sequence = 0; sequence < 8; ++sequence) link.offer(0, sequence);
  std::vector<std::uint32_t> order;
  EXPECT_EQ(link.queued(), 8u);
  for (int i = 0; i < 2; ++i) order.push_back(*link.due(0));
  EXPECT_FALSE(link.due(99));
  while (const auto sequence = link.due(100)) order.push_back(*sequence);
  EXPECT_EQ(order, (std::vector<std::uint32_t>{7, 3, 0, 1, 2, 4, 5, 6}));
}

TEST(Impairment, DelaysWithinTheJitter) {
  Impairment<std::uint32_t> link({.delay_ns = 1000, .jitter_ns = 100, .limit = 100'000});
  std::map<std::uint64_t, int> delays;
  for (const Delivery& delivery : deliver(link, 100'000, 10'000))
    ++delays[delivery.time_ns - delivery.sequence * 10'000];
  EXPECT_EQ(delays.size(), 200u);
  EXPECT_EQ(delays.begin()->first, 900u);
  EXPECT_EQ(delays.rbegin()->first, 1099u);
  for (const auto& [delay, count] : delays) EXPECT_NEAR(count, 500, 5.5 * 22.4) << delay;
}

TEST(Impairment, RefusesWhatItsQueueHasNoRoomFor) {
  Impairment<std::uint32_t> link({.delay_ns = 1000, .limit = 3});
  for (std::uint32_t sequence = 0; sequence < 5; ++sequence) link.offer(0, sequence);
  EXPECT_EQ(link.queued(), 3u);
  EXPECT_EQ(link.counts().refused, 2u);
  EXPECT_EQ(link.due(1000), 0u);
  link.offer(1000, 5);
  EXPECT_EQ(link.counts().refused, 2u);
}

TEST(Impairment, DoesWithASeedThatItGetsLaterAsWithThatFromTheBeginning) {
  ImpairmentSettings settings{.loss = 0.1, .duplicate = 0.2, .reorder = 0.3, .gap = 3};
  Impairment<std::uint32_t> other(settings);
  settings.seed = 7;
  Impairment<std::uint32_t> link(settings);
  static_cast<void>(deliver(other, 100, 100));
  other.reseed(7);
  EXPECT_EQ(deliver(other, 5000, 100), deliver(link, 5000, 100));
}

TEST(Impairment, DoesTheSameWithTheSameSeedAndCountsWhatItDid) {
  const ImpairmentSettings settings{.loss = 0.1, .duplicate = 0.2, .reorder = 0.3, .delay_ns = 5000, .jitter_ns = 3000};
  Impairment<std::uint32_t> link(settings), again(settings);
  ImpairmentSettings another = settings;
  another.seed = 2;
  Impairment<std::uint32_t> other(another);
  const auto deliveries = deliver(link, 5000, 100);
  EXPECT_EQ(deliveries, deliver(again, 5000, 100));
  EXPECT_NE(deliveries, deliver(other, 5000, 100));
  std::vector<int> copies(5000);
  std::uint64_t at_once = 0;
  for (const Delivery& delivery : deliveries) {
    ++copies[delivery.sequence];
    at_once += delivery.time_ns == delivery.sequence * 100;
  }
  const ImpairmentCounts& counts = link.counts();
  EXPECT_EQ(counts.offered, 5000u);
  EXPECT_EQ(counts.lost, static_cast<std::uint64_t>(std::ranges::count(copies, 0)));
  EXPECT_EQ(counts.duplicated, static_cast<std::uint64_t>(std::ranges::count(copies, 2)));
  EXPECT_EQ(counts.sent_at_once, at_once);
  EXPECT_EQ(counts.sent_at_once + counts.delayed, deliveries.size());
}

}  // namespace
}  // namespace parshall::tester
