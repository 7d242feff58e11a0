// SPDX-License-Identifier: Apache-2.0
#include "pipeline/flow/flow_sample.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace parshall {
namespace {

/// Flows whose addresses and ports follow each other, as in a scan.
std::vector<FlowKey> scan(std::uint8_t version, std::uint32_t flows) {
  std::vector<FlowKey> keys;
  for (std::uint32_t i = 0; i < flows; ++i) {
    FlowKey key;
    key.ip_version = version;
    key.protocol = 6;
    key.src_port_bytes = {static_cast<std::uint8_t>(i >> 8), static_cast<std::uint8_t>(i)};
    key.dst_port_bytes = {0, 80};
    const std::uint32_t source = 0x0100000A, destination = 0x0200000A + (i << 8);
    std::memcpy(key.address.data(), &source, 4);
    std::memcpy(key.address.data() + key.address_bytes(), &destination, 4);
    keys.push_back(key);
  }
  return keys;
}

TEST(FlowSample, TakesAllOrOneInSoMany) {
  constexpr std::uint32_t kFlows = 200'000;
  for (const std::uint8_t version : {std::uint8_t{4}, std::uint8_t{6}})
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      FlowSample sample(seed);
      const auto keys = scan(version, kFlows);
      for (const std::uint32_t one_in : {1u, 2u, 3u, 7u, 64u, 1024u}) {
        sample.set_one_in(one_in);
        const auto taken =
            static_cast<double>(std::ranges::count_if(keys, [&](const FlowKey& key) { return sample.takes(key); }));
        const double share = 1.0 / one_in, sd = std::sqrt(kFlows * share * (1 - share));
        EXPECT_NEAR(taken, kFlows * share, 4 * sd) << "one in " << one_in << ", IPv" << int{version};
      }
    }
}

TEST(FlowSample, BothDirectionsOfAConnectionAreTakenOrNone) {
  FlowSample sample(5);
  sample.set_one_in(3);
  for (const std::uint8_t version : {std::uint8_t{4}, std::uint8_t{6}})
    for (const FlowKey& key : scan(version, 10'000)) ASSERT_EQ(sample.takes(key), sample.takes(opposite(key)));
}

TEST(FlowSample, WhoIsInASmallerOneIsInAllLarger) {
  FlowSample sample(6);
  sample.set_one_in(100);
  for (const FlowKey& key : scan(4, 20'000)) {
    bool before = sample.takes(key);
    EXPECT_EQ(before, sample.takes(key, 100));
    for (const std::uint32_t one_in : {50u, 49u, 10u, 2u, 1u}) {
      const bool now = sample.takes(key, one_in);
      ASSERT_TRUE(now || !before) << one_in;
      before = now;
    }
    ASSERT_TRUE(before);
  }
}

TEST(FlowSample, SharesNothingWithTheTablesHashOfTheSameSeed) {
  constexpr std::uint32_t kFlows = 100'000;
  const FlowIdentity identity(KeyFields::five_tuple, Identity::exact, 7);
  FlowSample sample(7);
  sample.set_one_in(2);
  for (unsigned bit = 0; bit < 64; bit += 7) {
    double agree = 0;
    for (const FlowKey& key : scan(4, kFlows)) agree += sample.takes(key) == ((identity.hash(key) >> bit & 1) != 0);
    EXPECT_NEAR(agree, kFlows / 2.0, 4 * std::sqrt(kFlows / 4.0)) << "bit " << bit;
  }
}

TEST(FlowSample, OtherSeedsTakeOthers) {
  FlowSample one(1), other(2);
  one.set_one_in(2), other.set_one_in(2);
  double agree = 0;
  for (const FlowKey& key : scan(4, 100'000)) agree += one.takes(key) == other.takes(key);
  EXPECT_NEAR(agree, 50'000, 4 * std::sqrt(25'000.0));
}

}  // namespace
}  // namespace parshall
