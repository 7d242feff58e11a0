// SPDX-License-Identifier: Apache-2.0
#include "traffic/packet_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace parshall {
namespace {

std::vector<std::vector<std::uint64_t>> places(const std::vector<std::uint32_t>& flow_of, std::uint64_t flows) {
  std::vector<std::vector<std::uint64_t>> of_flow(flows);
  for (std::uint64_t i = 0; i < flow_of.size(); ++i) of_flow.at(flow_of[i]).push_back(i);
  return of_flow;
}

struct Shape {
  std::uint64_t flows, packets;
};

TEST(Ladder, HasTheKthFlowKTimesSlowerThanTheFirstToWithinOnePacket) {
  for (const auto& [flows, packets] :
       {Shape{1, 10}, {2, 9}, {10, 1000}, {1000, 1 << 20}, {1000, 77'777}, {5000, 999}}) {
    const auto of_flow = places(order_packets({.flows = flows, .ladder = true}, packets), flows);
    double harmonic = 0;
    for (std::uint64_t k = flows; k >= 1; --k) harmonic += 1 / static_cast<double>(k);
    for (std::uint64_t k = 1; k <= flows; ++k) {
      const double due = static_cast<double>(packets) / static_cast<double>(k) / harmonic;
      ASSERT_LT(std::abs(static_cast<double>(of_flow[k - 1].size()) - due), 1 + 1e-6) << k << " of " << flows;
    }
  }
}

TEST(Ladder, HasHadOfEachFlowItsShareToWithinOnePacketAtAnyTime) {
  for (const auto& [flows, packets] : {Shape{1000, 1 << 20}, {3, 1000}, {1000, 77'777}, {5000, 999}}) {
    const auto of_flow = places(order_packets({.flows = flows, .ladder = true}, packets), flows);
    for (const auto& at : of_flow) {
      const double step = static_cast<double>(packets) / static_cast<double>(at.size());
      for (std::size_t i = 0; i < at.size(); ++i) {
        ASSERT_GT(static_cast<double>(at[i] + 1), static_cast<double>(i) * step - 1e-6);
        ASSERT_LT(static_cast<double>(at[i]), static_cast<double>(i + 1) * step + 1e-6);
      }
    }
  }
}

/// Of the published 1,000 flows: the fastest by half a packet's time.
TEST(Ladder, HasTheFirstFlowsPacketsEvenlyApart) {
  const auto of_flow = places(order_packets({.flows = 1000, .ladder = true}, 1 << 20), 1000);
  const double step = static_cast<double>(1 << 20) / static_cast<double>(of_flow[0].size());
  for (std::size_t i = 1; i < of_flow[0].size(); ++i)
    ASSERT_LT(std::abs(static_cast<double>(of_flow[0][i] - of_flow[0][i - 1]) - step), 1);
}

TEST(Ladder, IsNotRandom) {
  EXPECT_EQ(order_packets({.flows = 50, .ladder = true, .seed = 1}, 5000),
            order_packets({.flows = 50, .ladder = true, .seed = 2}, 5000));
}

TEST(TrafficSpec, HasOneDistribution) {
  EXPECT_TRUE(TrafficSpec::parse("dist=ladder")->ladder);
  EXPECT_FALSE(TrafficSpec::parse("dist=ladder:2"));
  EXPECT_FALSE(conflict_of({.zipf_exponent = 1}));
  EXPECT_TRUE(conflict_of({.zipf_exponent = 1, .ladder = true}));
  EXPECT_TRUE(conflict_of({.ladder = true, .train_packets = 5}));
}

}  // namespace
}  // namespace parshall
