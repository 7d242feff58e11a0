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
  constexpr std::uint64_t kRounds = 200'000, kStep = 0x1'0000'0001;  // both halves of a word change
  PublishedCounters<CountedBy::lane> published;
  std::atomic<bool> done{false};
  std::thread counts([&] {
    Counters counters;
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      for (const CounterLine& line : Counters::kTable)
        if (!line.may_be_absent || round > kRounds / 2) counters.set(line.id, round * kStep);
      published.publish(counters);
    }
    done.store(true);
  });
  Counters before;
  for (bool last = false; !last;) {
    last = done.load();
    const Counters now = published.read();
    for (const CounterLine& line : Counters::kTable) {
      if (line.by != CountedBy::lane) continue;
      EXPECT_EQ(now[line.id] % kStep, 0u) << line.name;
      EXPECT_GE(now[line.id], before[line.id]) << line.name;
      EXPECT_GE(now.knows(line.id), before.knows(line.id)) << line.name;
      EXPECT_TRUE(!line.may_be_absent || !now.knows(line.id) || now[line.id] > kRounds / 2 * kStep)
          << line.name << " is known before it has a value";
    }
    before = now;
    if (::testing::Test::HasFailure()) break;
  }
  counts.join();
  EXPECT_EQ(published.read()[Counter::counted], kRounds * kStep);
}

}  // namespace
}  // namespace parshall
