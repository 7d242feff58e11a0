// SPDX-License-Identifier: Apache-2.0
#include "compare/cuts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace parshall {
namespace {

constexpr std::uint64_t kFlowBeginNs = 1'700'000'000'000'000'000, kDelayNs = 2'000'000,
                        kOffsetNs = 90'000'000'000'000'000;
constexpr std::uint64_t kEveryNs = 1'000'000;

struct Seen {
  std::uint64_t name, time_ns;
};

/// Returns the sums and cuts of a tap with these packets, in the order of their arrival. A record has a second of them.
TapSums tap_of(const std::vector<Seen>& packets) {
  constexpr std::uint64_t kRecordNs = 1'000'000'000;
  TapSums tap{.cuts = {}, .all = {}, .first_ns = packets.front().time_ns, .last_ns = packets.back().time_ns};
  std::uint64_t record_end_ns = 0;
  std::map<std::uint64_t, std::uint64_t> seen;
  for (const auto& [name, time_ns] : packets) {
    const auto [before, is_new] = seen.insert({name, time_ns});
    const bool is_repeat = !is_new && time_ns - before->second <= 100'000'000;
    before->second = time_ns;
    tap.all += {1, name, time_ns, is_repeat ? 1u : 0u};
    if (time_ns >= record_end_ns) {
      record_end_ns = time_ns / kRecordNs * kRecordNs + kRecordNs;
      tap.cuts.push_back({name, time_ns, tap.all, 0});
    }
    if (name < tap.cuts.back().name) tap.cuts.back() = {name, time_ns, tap.all, tap.cuts.back().weight};
    ++tap.cuts.back().weight;
  }
  return tap;
}

struct FlowLink {
  double lost = 0, doubled = 0, late = 0;
};

/// Packets of a flow at both taps.
struct BothTaps {
  std::vector<Seen> up, down;
  std::uint64_t lost = 0, doubled = 0;
  std::int64_t delays_ns = 0;  ///< sum over all that arrived, by DOWN's clock

  TapSums of_up() const { return tap_of(up); }
  TapSums of_down() const { return tap_of(down); }
};

BothTaps send_flow(const FlowLink& link, std::uint32_t seed, std::uint64_t packets = 10'000) {
  std::mt19937_64 random(seed);
  const auto happens = [&](double chance) { return std::bernoulli_distribution(chance)(random); };
  BothTaps both;
  for (std::uint64_t i = 0; i < packets; ++i) {
    const Seen sent{random(), kFlowBeginNs + i * kEveryNs};
    both.up.push_back(sent);
    if (happens(link.lost)) {
      ++both.lost;
      continue;
    }
    const std::uint64_t delay_ns = kDelayNs + random() % 100'000 + (happens(link.late) ? 20 * kEveryNs : 0);
    both.down.push_back({sent.name, sent.time_ns + delay_ns + kOffsetNs});
    both.delays_ns += static_cast<std::int64_t>(delay_ns);
    if (!happens(link.doubled)) continue;
    ++both.doubled;
    both.down.push_back({sent.name, sent.time_ns + delay_ns + kOffsetNs + 1000});
  }
  std::ranges::stable_sort(both.down, {}, &Seen::time_ns);
  return both;
}

std::int64_t mean_ns(const std::vector<CutFlow::Mean>& means) {
  std::int64_t sum = 0, packets = 0;
  for (const CutFlow::Mean& mean : means) {
    const Passage& passage = mean.is_exact ? *mean.of_sums : *mean.of_cuts;
    sum += (passage.difference_ns - static_cast<std::int64_t>(kOffsetNs)) * static_cast<std::int64_t>(mean.weight);
    packets += static_cast<std::int64_t>(mean.weight);
  }
  return sum / packets;
}

bool is_exact(const CutFlow& flow) {
  return std::ranges::all_of(flow.means, [](const CutFlow::Mean& mean) { return mean.is_exact; });
}

TEST(Cuts, TellTheExactMeanOfAFlowThatLostNothing) {
  const BothTaps both = send_flow({}, 1);
  const auto found = compare_cuts(both.of_up(), both.of_down(), FlowEnds::both);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->packets_up, 10'000);
  EXPECT_EQ(found->lost, 0);
  EXPECT_EQ(found->more, 0);
  EXPECT_TRUE(is_exact(*found));
  EXPECT_NEAR(static_cast<double>(mean_ns(found->means)), static_cast<double>(both.delays_ns) / 10'000, 1);
  EXPECT_GE(found->samples.size(), 9u);
}

TEST(Cuts, TellWhatWasLost) {
  for (const double lost : {0.0001, 0.001, 0.01, 0.05, 0.3}) {
    const BothTaps both = send_flow({.lost = lost}, 2);
    const auto found = compare_cuts(both.of_up(), both.of_down(), FlowEnds::both);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->lost, both.lost);
    EXPECT_EQ(found->more, 0);
    EXPECT_EQ(is_exact(*found), both.lost == 0);
    EXPECT_EQ(found->packets_down, both.down.size());
  }
}

TEST(Cuts, DoNotTakeOvertakingForLoss) {
  const BothTaps both = send_flow({.late = 0.05}, 3);
  const auto found = compare_cuts(both.of_up(), both.of_down(), FlowEnds::both);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->lost, 0);
  EXPECT_EQ(found->more, 0);
  EXPECT_TRUE(is_exact(*found));
  EXPECT_NEAR(static_cast<double>(mean_ns(found->means)), static_cast<double>(both.delays_ns) / 10'000, 3);
}

TEST(Cuts, TellLossesAndRepeatsApart) {
  double error_ns = 0;
  for (std::uint32_t seed = 10; seed < 40; ++seed) {
    const BothTaps both = send_flow({.lost = 0.002, .doubled = 0.002, .late = 0.02}, seed);
    const auto found = compare_cuts(both.of_up(), both.of_down(), FlowEnds::both);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->lost, both.lost) << seed;
    EXPECT_EQ(found->more, both.doubled) << seed;
    error_ns += static_cast<double>(mean_ns(found->means)) -
                static_cast<double>(both.delays_ns) / static_cast<double>(both.up.size() - both.lost);
  }
  EXPECT_NEAR(error_ns / 30, 0, 400'000);  // a cut in fifty is late by 20 ms
}

TEST(Cuts, TellNoRepeatOfTheSenderForOneOfTheWay) {
  BothTaps both = send_flow({}, 4);
  both.up.insert(both.up.begin() + 5101, {both.up[5100].name, both.up[5100].time_ns + 1000});
  both.down.insert(both.down.begin() + 5101, {both.down[5100].name, both.down[5100].time_ns + 1000});
  both.down.erase(both.down.begin() + 2000);
  const auto found = compare_cuts(both.of_up(), both.of_down(), FlowEnds::both);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->lost, 1);
  EXPECT_EQ(found->more, 0);
}

/// The sums bound the mean delay of what arrived, whatever was lost.
TEST(Cuts, BoundTheMeanBySums) {
  for (std::uint32_t seed = 40; seed < 60; ++seed) {
    const BothTaps both = send_flow({.lost = 0.01}, seed);
    const auto found = compare_cuts(both.of_up(), both.of_down(), FlowEnds::both);
    ASSERT_TRUE(found);
    double sum = 0, most_off = 0;
    for (const CutFlow::Mean& mean : found->means) {
      ASSERT_TRUE(mean.of_sums);
      sum += static_cast<double>(mean.of_sums->difference_ns - static_cast<std::int64_t>(kOffsetNs)) *
             static_cast<double>(mean.weight);
      most_off += mean.most_off_ns * static_cast<double>(mean.weight);
    }
    EXPECT_NEAR(sum, static_cast<double>(both.delays_ns), most_off) << seed;
    EXPECT_LT(most_off / 10'000, 0.05 * 1e10) << seed;  // a hundredth of half the time, of one stretch or several
  }
}

/// One packet lost and another one doubled, between the same cuts.
TEST(Cuts, SeeThatOtherPacketsWereSeen) {
  BothTaps both = send_flow({}, 4);
  both.down[5100] = both.down[5101];
  const auto found = compare_cuts(both.of_up(), both.of_down(), FlowEnds::both);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->lost, 1);
  EXPECT_EQ(found->more, 1);
  EXPECT_FALSE(is_exact(*found));
}

TEST(Cuts, CountBetweenCommonOnesIfATapBeganLaterOrEndedEarlier) {
  BothTaps both = send_flow({.lost = 0.01}, 5);
  both.down.erase(both.down.begin(), both.down.begin() + 1500);
  both.down.resize(both.down.size() - 1500);
  const auto found = compare_cuts(both.of_up(), both.of_down(), FlowEnds::none);
  ASSERT_TRUE(found);
  EXPECT_GT(found->packets_up, 4000);
  EXPECT_LT(found->packets_up, 7200);
  EXPECT_NEAR(static_cast<double>(found->lost), 0.01 * static_cast<double>(found->packets_up), 30);
  EXPECT_EQ(found->packets_up - found->lost, found->packets_down);
}

TEST(Cuts, OfAlikePacketsAreNone) {
  BothTaps both;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    both.up.push_back({7, kFlowBeginNs + i * kEveryNs});
    both.down.push_back({7, kFlowBeginNs + i * kEveryNs + kDelayNs});
  }
  EXPECT_FALSE(compare_cuts(both.of_up(), both.of_down(), FlowEnds::none));
  const auto found = compare_cuts(both.of_up(), both.of_down(), FlowEnds::both);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->samples.empty());
  EXPECT_EQ(found->lost, 0);
}

/// Sums of times wrap around many times, and the clocks drift.
TEST(Cuts, TellTheMeanOfALongFastFlow) {
  constexpr std::uint64_t kPackets = 3'000'000'000, kLongNs = 600'000'000'000, kMeanNs = kLongNs / 2;
  const std::uint64_t up_times = kPackets * (kFlowBeginNs + kMeanNs), down_times = up_times + kPackets * kDelayNs;
  const TapSums up{
      .cuts = {}, .all = {kPackets, 7, up_times}, .first_ns = kFlowBeginNs, .last_ns = kFlowBeginNs + kLongNs};
  const TapSums down{.cuts = {},
                     .all = {kPackets, 7, down_times},
                     .first_ns = kFlowBeginNs + kDelayNs + 5,
                     .last_ns = kFlowBeginNs + kLongNs};
  const auto found = compare_cuts(up, down, FlowEnds::both);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->means.size(), 1u);
  EXPECT_EQ(found->means[0].of_sums->difference_ns, kDelayNs);
  EXPECT_EQ(found->means[0].of_sums->up_ns, kFlowBeginNs + kMeanNs);
}

TEST(Cuts, SayThatAllNamesDiffer) {
  BothTaps both = send_flow({}, 9, 100);
  for (Seen& packet : both.down) ++packet.name;
  const auto found = compare_cuts(both.of_up(), both.of_down(), FlowEnds::both);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->is_unlike);
}

TEST(Cuts, OfOtherFlowsHaveNothingInCommon) {
  EXPECT_FALSE(compare_cuts(send_flow({}, 6).of_up(), send_flow({}, 7).of_down(), FlowEnds::none));
}

/// Whatever a tap tells, even nonsense, the account holds and nothing is read out of bounds.
TEST(Cuts, BearAnything) {
  std::mt19937_64 random(8);
  for (int run = 0; run < 2000; ++run) {
    const auto any_count = [&] { return random() % 8 == 0 ? 0 - random() % 3 : random() % 20; };
    const auto any_tap = [&] {
      TapSums tap{.cuts = {}, .all = {random() % 20, random(), random()}, .first_ns = random(), .last_ns = random()};
      for (std::size_t i = random() % 6; i > 0; --i)
        tap.cuts.push_back({random() % 4, random(), {any_count(), random() % 3, random(), random() % 9}, random() % 5});
      return tap;
    };
    const TapSums up = any_tap(), down = any_tap();
    if (const auto found = compare_cuts(up, down, FlowEnds(run % 4))) {
      EXPECT_EQ(found->packets_up - found->lost, found->packets_down - found->more);
      EXPECT_LE(found->lost, found->packets_up);
    }
  }
}

}  // namespace
}  // namespace parshall
