// SPDX-License-Identifier: Apache-2.0
#include "base/counters.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string_view>
#include <thread>

#include "base/published_counters.hpp"

namespace parshall {
namespace {

TEST(Counters, HaveANameOfTheirOwnAUnitAndALineOfHelpEach) {
  std::set<std::string_view> names, helps;
  for (const CounterLine& line : Counters::kTable) {
    EXPECT_TRUE(names.insert(line.name).second) << line.name;
    EXPECT_TRUE(helps.insert(line.help).second) << line.name;
    EXPECT_FALSE(line.unit.empty()) << line.name;
    EXPECT_EQ(line.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string_view::npos) << line.name;
    EXPECT_EQ(name_of(line.id), line.name);
  }
  EXPECT_EQ(names.size(), Counters::kSize);
}

TEST(Counters, AddUpButForTheEarliestAndTheLatest) {
  Counters one, other;
  for (const CounterLine& line : Counters::kTable) {
    one.set(line.id, 100 + static_cast<std::uint64_t>(line.id));
    other.set(line.id, 50);
  }
  const Counters sum = one + other;
  for (const CounterLine& line : Counters::kTable) {
    const std::uint64_t first = 100 + static_cast<std::uint64_t>(line.id);
    const bool is_time = line.id == Counter::first_seen_ns || line.id == Counter::last_seen_ns;
    EXPECT_EQ(sum[line.id], !is_time ? first + 50 : line.id == Counter::first_seen_ns ? 50 : first) << line.name;
  }
}

TEST(Counters, OfNothingAddNothing) {
  Counters counters;
  for (const CounterLine& line : Counters::kTable) counters.set(line.id, 7);
  EXPECT_EQ(counters + Counters(), counters);
  EXPECT_EQ(Counters() + counters, counters) << "the earliest of nothing is later than any";
  EXPECT_EQ(counters - Counters(), counters);
}

TEST(Counters, DifferencesAreWhatCameSinceAndNeverBelowNothing) {
  Counters before, now;
  before.set(Counter::counted, 30);
  now.set(Counter::counted, 100);
  before.set(Counter::nic_missed, 8);
  now.set(Counter::nic_missed, 5);  // read a little earlier
  before.set(Counter::last_seen_ns, 10);
  now.set(Counter::last_seen_ns, 20);
  const Counters since = now - before;
  EXPECT_EQ(since[Counter::counted], 70u);
  EXPECT_EQ(since.known(Counter::nic_missed), 0u);
  EXPECT_EQ(since[Counter::last_seen_ns], 20u) << "a time stays a time";
}

TEST(Counters, WhatADeviceCannotTellStaysAbsentAndIsNoZero) {
  Counters without, with;
  with.set(Counter::nic_missed, 0);
  EXPECT_EQ(without.known(Counter::nic_missed), std::nullopt);
  EXPECT_EQ(with.known(Counter::nic_missed), 0u);
  EXPECT_EQ((without + without).known(Counter::nic_missed), std::nullopt);
  EXPECT_EQ((without + with).known(Counter::nic_missed), 0u) << "what is known of some is a lower bound of all";
  EXPECT_EQ((without - with).known(Counter::nic_missed), std::nullopt);
  EXPECT_EQ((with - without).known(Counter::nic_missed), 0u);
  EXPECT_EQ(without[Counter::nic_missed], 0u);
  EXPECT_EQ(without.known(Counter::nic_missed), std::nullopt) << "to read it does not make it known";
  EXPECT_FALSE(without == with);
  with.set(Counter::nic_missed, std::nullopt);
  EXPECT_TRUE(without == with);
  EXPECT_EQ(without.known(Counter::counted), 0u) << "what we count ourselves is always known";
}

TEST(Counters, ADevicesStandInThePlaceOfOthers) {
  Counters all, device;
  all.set(Counter::nic_missed, 5);
  all.set(Counter::no_mbuf, 5);
  all.set(Counter::counted, 9);
  device.set(Counter::nic_missed, 2);
  set_device(all, device);
  EXPECT_EQ(all.known(Counter::nic_missed), 2u);
  EXPECT_EQ(all.known(Counter::no_mbuf), std::nullopt);
  EXPECT_EQ(all[Counter::counted], 9u);
}

TEST(PublishedCounters, AreThoseOfTheirThreadAlone) {
  Counters all;
  for (const CounterLine& line : Counters::kTable) all.set(line.id, 7);
  PublishedCounters<CountedBy::flows> published;
  EXPECT_EQ(published.read(), Counters());
  published.publish(all);
  for (const CounterLine& line : Counters::kTable) {
    if (line.by == CountedBy::flows)
      EXPECT_EQ(published.read()[line.id], 7u) << line.name;
    else
      EXPECT_EQ(published.read().known(line.id), Counters().known(line.id)) << line.name;
    EXPECT_EQ(published.read(line.id), published.read()[line.id]) << line.name;
  }
}

TEST(PublishedCounters, AreReadWhileTheyArePublishedAndNoneIsTornOrGoesBack) {
  constexpr std::uint64_t kStep = 0x1'0000'0001;  // both halves of a word change
  constexpr std::uint64_t kSeen = 20'000;         // of states that the reader finds, so that it runs at the same time
  PublishedCounters<CountedBy::lane> published;
  std::atomic<std::uint64_t> seen{0};
  std::atomic<std::uint64_t> known_from{~std::uint64_t{0}};
  std::thread counts([&] {
    Counters counters;
    for (std::uint64_t value = kStep; seen < kSeen; value += kStep) {
      if (seen > kSeen / 2 && known_from > value) known_from = value;
      for (const CounterLine& line : Counters::kTable)
        if (!line.may_be_absent || value >= known_from) counters.set(line.id, value);
      published.publish(counters);
    }
  });
  Counters before;
  while (seen < kSeen) {
    const Counters now = published.read();
    for (const CounterLine& line : Counters::kTable) {
      if (line.by != CountedBy::lane) continue;
      EXPECT_EQ(now[line.id] % kStep, 0u) << line.name;
      EXPECT_GE(now[line.id], before[line.id]) << line.name;
      EXPECT_GE(now.knows(line.id), before.knows(line.id)) << line.name;
      EXPECT_TRUE(!line.may_be_absent || !now.knows(line.id) || now[line.id] >= known_from)
          << line.name << " is known before it has a value";
    }
    if (!(now == before)) ++seen;
    before = now;
    if (HasFailure()) seen = kSeen;
  }
  counts.join();
}

}  // namespace
}  // namespace parshall
