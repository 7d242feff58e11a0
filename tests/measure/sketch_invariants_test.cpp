// SPDX-License-Identifier: Apache-2.0
// What one sketch promises and others do not.
#include "sketch_traffic.hpp"

namespace parshall {
namespace {

using namespace testing;

constexpr std::uint32_t kFlows = 3000;
const Stream kStreams[] = {{0, kFlows, 30'000, 1}, {1, kFlows, 30'000, 2}, {1.5, kFlows, 30'000, 3}};

using Plain = CountMin<FlowKey>;
using Conservative = CountMin<FlowKey, CountMinUpdate::conservative>;
template <class Counter>
using TinyPlain = CountMin<FlowKey, CountMinUpdate::plain, Counter>;

TEST(RowHash, SpreadsPairsThatDifferInAnyBitIndependentlyInEachRow) {
  constexpr unsigned kSeeds = 40'000, kShift = 60;  // rows of 16
  for (const std::uint64_t x : {0ull, 0x0123'4567'89AB'CDEFull, ~0ull}) {
    for (unsigned bit = 0; bit < 64; bit += 3) {
      unsigned first = 0, both = 0;
      for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        SplitMix64 random(seed * 64 + bit);
        const RowHash one(random), other(random);
        const auto meet = [&](const RowHash& hash) { return (hash(x) ^ hash(x ^ 1ull << bit)) >> kShift == 0; };
        first += meet(one);
        both += meet(one) && meet(other);
      }
      EXPECT_LE(first, tolerable(kSeeds, 1.0 / 16)) << "bit " << bit << " of " << x;
      EXPECT_LE(both, tolerable(kSeeds, 1.0 / 256)) << "bit " << bit << " of " << x;
    }
  }
}

TEST(CountArray, AddsUpExactlyTheKeysThatShareACounter) {
  constexpr std::size_t kWidth = 64;
  for (const Stream& stream : kStreams) {
    ByFlow<CountArray<FlowKey>, Ipv4Keys> counted({kWidth}, 9);
    counted.add(stream);
    const Ipv4Keys keys(~std::uint64_t{9});
    std::vector<std::uint64_t> sums(kWidth);
    for (const auto& [flow, packets] : stream.truth) sums[keys.hash(keys.key(flow)) >> 58] += packets;
    for (std::uint32_t flow = 0; flow < kFlows; ++flow) ASSERT_EQ(counted[flow], sums[keys.hash(keys.key(flow)) >> 58]);
  }
}

TEST(CountMin, IsNeverBelowTheTruthAndConservativeNeverAbovePlain) {
  for (const Stream& stream : kStreams) {
    ByFlow<Plain, Ipv4Keys> plain({256, 3}, 5);
    ByFlow<Conservative, Ipv4Keys> conservative({256, 3}, 5);
    plain.add(stream);
    conservative.add(stream);
    std::uint64_t less = 0;
    for (std::uint32_t flow = 0; flow < kFlows; ++flow) {
      ASSERT_GE(conservative[flow], stream.count(flow));
      ASSERT_LE(conservative[flow], plain[flow]);
      less += conservative[flow] < plain[flow];
    }
    EXPECT_GT(less, kFlows / 2) << "or it is plain";
  }
}

/// `place(row, hash)` is a key's place in a row of 2^bits.
template <class PlaceOf>
void expect_least_sums(SketchSize size, unsigned bits, PlaceOf place) {
  ByFlow<Plain, Ipv4Keys> counted(size, 5);
  counted.add(kStreams[1]);
  const Ipv4Keys keys(~std::uint64_t{5});
  std::vector<std::vector<std::uint64_t>> sums(size.rows, std::vector<std::uint64_t>(std::size_t{1} << bits));
  for (const auto& [flow, packets] : kStreams[1].truth)
    for (unsigned row = 0; row < size.rows; ++row) sums[row][place(row, keys.hash(keys.key(flow)))] += packets;
  for (std::uint32_t flow = 0; flow < kFlows; ++flow) {
    std::uint64_t least = ~std::uint64_t{0};
    for (unsigned row = 0; row < size.rows; ++row)
      least = std::min(least, sums[row][place(row, keys.hash(keys.key(flow)))]);
    ASSERT_EQ(counted[flow], least);
  }
}

TEST(CountMin, HasTheLeastOfItsRowsSumsByBitsOfTheHash) {
  for (const unsigned rows : {2u, 3u, 4u})
    expect_least_sums({128, rows}, 7, [](unsigned row, std::uint64_t hash) { return hash << 7 * row >> 57; });
}

TEST(CountMin, HasTheLeastOfItsRowsSumsByHashesOfTheirOwnWhereTheBitsDoNotReach) {
  SplitMix64 random(5);
  std::vector<RowHash> rows;
  for (int row = 0; row < 8; ++row) rows.emplace_back(random);
  expect_least_sums({512, 8}, 9, [&](unsigned row, std::uint64_t hash) { return rows[row](hash) >> 55; });
}

/// After N packets.
template <class S>
ErrorBound bound_of(SketchSize size, std::uint64_t packets, double probability) {
  S sketch(size, 1);
  for (std::uint64_t n = 0; n < packets; ++n) sketch.add(1, key_of(1));
  return sketch.error_bound(probability);
}

TEST(Bounds, AreTheOnesOfThePapers) {
  EXPECT_EQ(bound_of<Plain>({256, 3}, 10'000, std::exp(-3)).over, 106u) << "e N / w";
  EXPECT_EQ(bound_of<Conservative>({256, 5}, 10'000, std::exp(-5)).over, 106u);
  EXPECT_EQ(bound_of<CountArray<FlowKey>>({256}, 10'000, 0.01).over, 3906u) << "100 N / w";
  EXPECT_EQ(bound_of<SpaceSaving<FlowKey>>({10}, 10'000, 0.01).over, 0u) << "as long as the list is not full";
  EXPECT_EQ(bound_of<HeavyKeeper<FlowKey>>({4096, 2}, 100'000, 0.1).under, 436u) << "4 N / (w sqrt(p / 2))";
  EXPECT_EQ(bound_of<HeavyKeeper<FlowKey>>({4096, 2}, 1000, 0.1).under, 11u) << "sqrt(4 N / (p w (b - 1)))";
  const ErrorBound full = bound_of<HeavyKeeper<FlowKey, std::uint8_t>>({1 << 16, 8}, 100'000, 0.5);
  EXPECT_EQ(full.under, 100'000u - 255) << "a full counter keeps that back";
}

template <class S>
void expect_merged_is_the_whole() {
  ByFlow<S, Ipv4Keys> whole({128, 3}, 4), merged({128, 3}, 4), rest({128, 3}, 4);
  for (std::size_t i = 0; i < kStreams[1].packets.size(); ++i) {
    whole.add(kStreams[1].packets[i]);
    (i < 9000 ? merged : rest).add(kStreams[1].packets[i]);
  }
  ASSERT_TRUE(merged.sketch().merge(rest.sketch()));
  EXPECT_EQ(merged.sketch().packets(), whole.sketch().packets());
  if constexpr (!std::is_same_v<S, Conservative>) {
    EXPECT_EQ(merged.estimates(kFlows), whole.estimates(kFlows));
  }
  const ErrorBound bound = merged.sketch().error_bound(0.01);
  EXPECT_EQ(bound.over, whole.sketch().error_bound(0.01).over);
  for (std::uint32_t flow = 0; flow < kFlows; ++flow) ASSERT_GE(merged[flow], kStreams[1].count(flow));

  ByFlow<S, Ipv4Keys> wider({256, 3}, 4);
  wider.add(kStreams[0]);
  const auto before = merged.estimates(kFlows);
  EXPECT_FALSE(merged.sketch().merge(wider.sketch()));
  EXPECT_EQ(merged.estimates(kFlows), before);
}

TEST(Merge, OfPartsIsTheWhole) {
  expect_merged_is_the_whole<CountArray<FlowKey>>();
  expect_merged_is_the_whole<Plain>();
  expect_merged_is_the_whole<Conservative>();
}

TEST(Merge, IsRefusedBetweenSeedsAndRows) {
  Plain three({128, 3}, 1), seed({128, 3}, 2), four({128, 4}, 1);
  EXPECT_FALSE(three.merge(seed));
  EXPECT_FALSE(three.merge(four));
}

template <class S>
void expect_full_counters_stay(std::uint64_t full) {
  ByFlow<S, Ipv4Keys> counted({64, 2}, 1);
  for (std::uint64_t n = 1; n <= 3 * full; ++n) {
    counted.add(7);
    ASSERT_EQ(counted[7], std::min(n, full));
    ASSERT_GE(counted[7] + counted.sketch().error_bound(0.01).under, n);
  }
  if constexpr (MergeableSketch<S>) {
    ByFlow<S, Ipv4Keys> other({64, 2}, 1);
    other.add(7);
    ASSERT_TRUE(counted.sketch().merge(other.sketch()));
    EXPECT_EQ(counted[7], full);
    ASSERT_TRUE(counted.sketch().merge(counted.sketch()));
    EXPECT_EQ(counted[7], full);
    EXPECT_EQ(counted.sketch().packets(), 2 * (3 * full + 1));
  }
}

TEST(Counters, StayFullAndTheBoundSaysSo) {
  expect_full_counters_stay<CountArray<FlowKey, std::uint8_t>>(255);
  expect_full_counters_stay<TinyPlain<std::uint8_t>>(255);
  expect_full_counters_stay<CountMin<FlowKey, CountMinUpdate::conservative, std::uint8_t>>(255);
  expect_full_counters_stay<HeavyKeeper<FlowKey, std::uint8_t>>(255);
  expect_full_counters_stay<TinyPlain<std::uint16_t>>(65'535);
  expect_full_counters_stay<HeavyKeeper<FlowKey, std::uint16_t>>(65'535);
}

template <class Keys>
void expect_space_saving_invariants(const Stream& stream, std::size_t keys) {
  using S = SpaceSaving<typename Keys::Key>;
  ByFlow<S, Keys> counted({keys}, 1);
  const Keys named(0);
  std::map<std::string, std::uint32_t> flow_of;
  for (std::uint32_t flow = 0; flow < kFlows; ++flow) flow_of[text_of(named.key(flow))] = flow;
  std::unordered_map<std::uint32_t, std::uint64_t> truth;
  for (std::size_t n = 1; n <= stream.packets.size(); ++n) {
    counted.add(stream.packets[n - 1]);
    ++truth[stream.packets[n - 1]];
    if (n % 1500 != 0) continue;
    std::uint64_t sum = 0, least = ~std::uint64_t{0};
    std::map<std::uint32_t, std::uint64_t> listed;
    counted.sketch().visit([&](const auto& heavy) {
      ASSERT_TRUE(flow_of.contains(text_of(heavy.key)));
      const std::uint32_t flow = flow_of[text_of(heavy.key)];
      ASSERT_TRUE(listed.emplace(flow, heavy.packets).second) << "listed twice";
      ASSERT_EQ(counted[flow], heavy.packets) << "the index lost it";
      ASSERT_GE(heavy.packets, truth[flow]);
      ASSERT_LE(heavy.packets, truth[flow] + heavy.over);
      ASSERT_LE(heavy.over, n / keys);
      sum += heavy.packets;
      least = std::min(least, heavy.packets);
    });
    ASSERT_EQ(sum, n);
    ASSERT_LE(listed.size(), keys);
    ASSERT_EQ(counted.sketch().size(), listed.size());
    const ErrorBound bound = counted.sketch().error_bound(0.01);
    ASSERT_EQ(bound.over, listed.size() < keys ? 0 : least);
    ASSERT_LE(bound.over, n / keys);
    for (const auto& [flow, packets] : truth) {
      ASSERT_TRUE(packets * keys <= n || listed.contains(flow)) << "a heavy hitter is missing";
      ASSERT_GE(counted[flow], packets);
      ASSERT_LE(counted[flow], packets + bound.over);
    }
  }
}

TEST(SpaceSaving, KeepsItsInvariantsOnEveryTraffic) {
  for (const Stream& stream : kStreams) {
    for (const std::size_t keys : {1u, 2u, 7u, 100u, 1000u}) {
      expect_space_saving_invariants<Ipv4Keys>(stream, keys);
      expect_space_saving_invariants<Ipv6Keys>(stream, keys);
    }
    expect_space_saving_invariants<EqualHashes>(stream, 50);
  }
}

TEST(HeavyKeeper, IsNeverAboveTheTruth) {
  for (const Stream& stream : kStreams) {
    ByFlow<HeavyKeeper<FlowKey>, Ipv4Keys> counted({64, 2}, 5);
    counted.add(stream);
    for (std::uint32_t flow = 0; flow < kFlows; ++flow) ASSERT_LE(counted[flow], stream.count(flow));
  }
}

TEST(HeavyKeeper, ListsTheLargestKeysNearlyExactly) {
  for (const Stream* stream : {&kStreams[1], &kStreams[2]}) {
    ByFlow<HeavyKeeper<FlowKey>, Ipv4Keys> counted({1024, 2}, 5);
    counted.add(*stream);
    std::map<std::string, std::uint64_t> listed;
    counted.sketch().visit([&](const HeavyKey<FlowKey>& heavy) { listed[text_of(heavy.key)] = heavy.packets; });
    EXPECT_EQ(listed.size(), 128u);
    for (std::uint32_t flow = 0; flow < 20; ++flow) {
      ASSERT_TRUE(listed.contains(text_of(key_of(flow, false)))) << "rank " << flow;
      const std::uint64_t packets = listed[text_of(key_of(flow, false))];
      EXPECT_EQ(packets, counted[flow]);
      EXPECT_GE(packets + 20, stream->count(flow));
    }
  }
}

TEST(HeavyKeeper, NeverTakesBackWhatItListed) {
  ByFlow<HeavyKeeper<FlowKey>, Ipv4Keys> counted({16, 1}, 5);
  std::map<std::string, std::uint64_t> before;
  std::uint64_t worn = 0;
  const Stream stream(0.5, 60, 20'000, 6);
  for (const std::uint32_t flow : stream.packets) {
    const std::uint64_t old = counted[flow];
    worn += counted.add(flow) == old;
    std::map<std::string, std::uint64_t> listed;
    counted.sketch().visit([&](const HeavyKey<FlowKey>& heavy) { listed[text_of(heavy.key)] = heavy.packets; });
    for (const auto& [key, packets] : before) {
      if (listed.contains(key)) {
        ASSERT_GE(listed[key], packets);
      }
    }
    before = std::move(listed);
  }
  EXPECT_GT(worn, 100u) << "no bucket ever fell behind its list";
}

TEST(HeavyKeeper, CountsNothingForAKeyThatWearsAListedOnesFingerprint) {
  constexpr std::uint64_t kSeed = 3, kHash = 1;
  SplitMix64 random(kSeed);
  const RowHash row(random);  // as the sketch has it
  std::uint64_t elsewhere = 2;
  while (row(elsewhere) >> 60 == row(kHash) >> 60) ++elsewhere;
  HeavyKeeper<FlowKey> counted({16, 1}, kSeed);  // lists two keys
  for (int n = 0; n < 10; ++n) counted.add(elsewhere, key_of(1));
  for (int n = 0; n < 100; ++n) counted.add(kHash, key_of(2));
  for (int n = 0; n < 50; ++n) counted.add(kHash, key_of(3));
  EXPECT_EQ(counted.add(kHash, key_of(2)), 101u);
  counted.visit([&](const HeavyKey<FlowKey>& heavy) { EXPECT_FALSE(heavy.key == key_of(3)); });
}

TEST(HeavyKeeper, WearsACountDownWithTheProbabilitiesOfThePaper) {
  constexpr SketchSize kSize{1 << 15, 1};
  constexpr unsigned kPairs = 4000;
  SplitMix64 random(11);
  const RowHash row(random);  // as the sketch of seed 11 has it
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> buckets;
  for (SplitMix64 hashes(1); buckets.size() < kPairs || buckets.begin()->second.size() < 2;) {
    const std::uint64_t hash = hashes();
    if (const std::uint64_t bucket = row(hash) >> 49; bucket < kPairs && buckets[bucket].size() < 2)
      buckets[bucket].push_back(hash);
  }
  for (const unsigned packets : {2u, 5u, 20u, 60u}) {
    HeavyKeeper<FlowKey> counted(kSize, 11);
    unsigned pairs = 0, worn = 0;
    for (const auto& [bucket, hashes] : buckets) {
      if (hashes.size() < 2) continue;
      const FlowKey mine = key_of(2 * bucket), other = key_of(2 * bucket + 1);
      for (unsigned n = 0; n < packets; ++n) counted.add(hashes[0], mine);
      counted.add(hashes[1], other);
      counted.add(hashes[0], mine);
      ++pairs;
      worn += counted.estimate(hashes[0], mine) == packets;
    }
    const double share = std::pow(1.08, -static_cast<double>(packets));
    EXPECT_GE(pairs, kPairs / 2);
    EXPECT_LE(worn, tolerable(pairs, share)) << packets;
    EXPECT_LE(pairs - worn, tolerable(pairs, 1 - share)) << packets;
  }
}

}  // namespace
}  // namespace parshall
