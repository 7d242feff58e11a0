// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/sketches/nitro_sketch.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "base/random.hpp"
#include "pipeline/flow/identity.hpp"

namespace parshall {
namespace {

static_assert(KeyCounter<NitroSketch<FlowKey>>);

FlowKey nitro_key(std::uint32_t number) {
  FlowKey key;
  key.ip_version = 4;
  std::memcpy(key.address.data(), &number, sizeof number);
  return key;
}

/// A sketch and the truth about what it was given.
class Counted {
 public:
  Counted(SketchSize size, std::uint64_t seed, std::uint32_t one_in)
      : identity_(KeyFields::five_tuple, Identity::exact, seed), sketch_(size, seed, one_in) {}

  void add(std::uint32_t number) {
    const FlowKey key = nitro_key(number);
    sketch_.add(identity_.hash(key), key);
    if (truth_.size() <= number) truth_.resize(number + 1);
    ++truth_[number];
  }
  double estimate(std::uint32_t number) const {
    const FlowKey key = nitro_key(number);
    return static_cast<double>(sketch_.estimate(identity_.hash(key), key));
  }
  double truth(std::uint32_t number) const { return truth_[number]; }
  double squares() const {
    double sum = 0;
    for (const double packets : truth_) sum += packets * packets;
    return sum;
  }
  const NitroSketch<FlowKey>& sketch() const { return sketch_; }

 private:
  FlowIdentity identity_;
  NitroSketch<FlowKey> sketch_;
  std::vector<double> truth_;
};

TEST(NitroSketch, CountsEveryPacketWhereItIsToAndWithRoomExactly) {
  Counted counted({1 << 14, 3}, 1, 1);
  for (std::uint32_t i = 0; i < 10'000; ++i) counted.add(i % 20);
  EXPECT_EQ(counted.sketch().packets(), 10'000u);
  for (std::uint32_t key = 0; key < 20; ++key) EXPECT_EQ(counted.estimate(key), 500);
  EXPECT_EQ(counted.estimate(20'000), 0) << "nobody shares three places with it";
}

/// One row: the median of several is not the mean.
TEST(NitroSketch, IsRightOnAverageAndVariesByNoMoreThanItSays) {
  for (const std::uint32_t one_in : {1u, 4u, 16u}) {
    constexpr int kSeeds = 300;
    SplitMix64 random(7);
    std::vector<std::uint32_t> numbers(20'000);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = i % 10 == 0 ? 0 : static_cast<std::uint32_t>(1 + random.below(2000));
    constexpr std::size_t kWidth = 256;
    double sum = 0, variance = 0, packets = 0, expected = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      Counted counted({kWidth, 1}, seed, one_in);
      for (const std::uint32_t number : numbers) counted.add(number);
      packets = counted.truth(0);
      const double error = counted.estimate(0) - packets;
      sum += error, variance += error * error / kSeeds;
      const double others = counted.squares() - packets * packets;
      expected = (one_in - 1) * packets + (others + (one_in - 1) * (20'000 - packets)) / kWidth;
    }
    EXPECT_NEAR(sum / kSeeds, 0, 4 * std::sqrt(expected / kSeeds)) << one_in;
    EXPECT_NEAR(variance / expected, 1, 0.4) << one_in;
  }
}

TEST(NitroSketch, ListsTheLargestKeys) {
  for (const std::uint32_t one_in : {1u, 16u}) {
    Counted counted({1 << 12, 3}, 3, one_in);
    SplitMix64 random(5);
    const Zipf flow_of(1.2, 50'000);
    for (int i = 0; i < 500'000; ++i) counted.add(static_cast<std::uint32_t>(flow_of(random)));
    std::set<std::uint32_t> listed;
    counted.sketch().visit([&](const HeavyKey<FlowKey>& heavy) {
      std::uint32_t number = 0;
      std::memcpy(&number, heavy.key.address.data(), sizeof number);
      listed.insert(number);
    });
    EXPECT_LE(listed.size(), (std::size_t{1} << 12) / 8);
    for (std::uint32_t key = 0; key < 50; ++key) EXPECT_TRUE(listed.contains(key)) << key << " of one in " << one_in;
  }
}

}  // namespace
}  // namespace parshall
