// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/random.hpp"
#include "chi_square.hpp"
#include "played.hpp"
#include "traffic/packet_order.hpp"

namespace parshall {
namespace {

constexpr std::uint64_t kFlows[] = {2, 10, 1000};
constexpr double kExponents[] = {0.5, 0.8, 1, 1.1, 1.5, 2, 3};
constexpr std::uint64_t kDraws = 1 << 22;
/// A right sampler has a p-value below it in any of the 21 cases once in a million times.
constexpr double kLeastP = 1e-6 / (std::size(kFlows) * std::size(kExponents));

TEST(UpperGamma, IsWhatTablesAndSumsHave) {
  EXPECT_NEAR(upper_gamma(1, 3), std::exp(-3), 1e-14);
  for (const double x : {0.01, 0.5, 2.0, 30.0})
    EXPECT_NEAR(upper_gamma(0.5, x) / std::erfc(std::sqrt(x)), 1, 1e-10) << x;
  // Abramowitz and Stegun, table 26.8: quantiles of chi-square.
  EXPECT_NEAR(upper_gamma(1 / 2.0, 3.84146 / 2), 0.05, 1e-6);
  EXPECT_NEAR(upper_gamma(10 / 2.0, 29.5883 / 2), 0.001, 1e-7);
  EXPECT_NEAR(upper_gamma(100 / 2.0, 124.342 / 2), 0.05, 1e-5);
  for (const int a : {3, 40, 500})
    for (const double x : {0.5 * a, 1.0 * a, 1.3 * a}) {
      double sum = 0;  // of a Poisson distribution, below a
      for (int k = 0; k < a; ++k) sum += std::exp(k * std::log(x) - x - std::lgamma(k + 1.0));
      EXPECT_NEAR(upper_gamma(a, x) / sum, 1, 1e-9) << a << " " << x;
    }
}

using Draw = std::function<std::uint64_t(SplitMix64&)>;
using Sampler = std::function<Draw(double exponent, std::uint64_t n)>;

double p_of(const Draw& draw, double exponent, std::uint64_t n) {
  std::vector<std::uint64_t> counts(n);
  SplitMix64 random(n * 1000 + static_cast<std::uint64_t>(exponent * 10));
  for (std::uint64_t i = 0; i < kDraws; ++i) ++counts.at(draw(random));
  return chi_square_p(counts, zipf_shares(exponent, n));
}

Draw zipf(double exponent, std::uint64_t n) { return Zipf(exponent, n); }

TEST(Zipf, DrawsRanksWithTheirExactProbabilities) {
  for (const std::uint64_t n : kFlows)
    for (const double exponent : kExponents)
      EXPECT_GE(p_of(zipf(exponent, n), exponent, n), kLeastP) << n << " ranks, exponent " << exponent;
}

bool is_found(const Sampler& sampler) {
  for (const std::uint64_t n : kFlows)
    for (const double exponent : kExponents)
      if (p_of(sampler(exponent, n), exponent, n) < kLeastP) return true;
  return false;
}

TEST(Zipf, WouldBeFoundOutIfItWereSubtlyWrong) {
  for (const double off : {-0.01, 0.01})
    EXPECT_TRUE(is_found([off](double exponent, std::uint64_t n) { return zipf(exponent + off, n); })) << off;
  EXPECT_TRUE(is_found([](double exponent, std::uint64_t n) -> Draw {
    return [draw = Zipf(exponent, n + 1)](SplitMix64& random) {
      for (;;)
        if (const std::uint64_t rank = draw(random); rank != 0) return rank - 1;
    };
  })) << "ranks from 2 on";
  EXPECT_TRUE(is_found([](double exponent, std::uint64_t n) -> Draw {
    return [draw = Zipf(exponent, n), n](SplitMix64& random) { return (draw(random) + 1) % n; };
  })) << "ranks one further";
  EXPECT_TRUE(is_found([](double exponent, std::uint64_t n) {
    return n == 1000 ? zipf(exponent, n - 1) : zipf(exponent, n);
  })) << "without the last of 1000";
  EXPECT_TRUE(is_found([](double exponent, std::uint64_t n) -> Draw {
    return [draw = Zipf(exponent, n), n](SplitMix64& random) {
      return random.below(1000) == 0 ? random.below(n) : draw(random);
    };
  })) << "one of a thousand uniform";
}

/// Of 10 % of the packets each, since the exponent may change along a trace.
TEST(Trace, HasPacketsOfFlowsByZipfsLaw) {
  constexpr std::uint64_t kRanks = 1000, kPackets = 1 << 22;
  const std::vector<std::uint32_t> flow_of = order_packets({.flows = kRanks, .zipf_exponent = 1.1}, kPackets);
  const auto p = [&](std::uint64_t from, std::uint64_t to, double exponent) {
    std::vector<std::uint64_t> counts(kRanks);
    for (std::uint64_t i = from; i < to; ++i) ++counts[flow_of[i]];
    return chi_square_p(counts, zipf_shares(exponent, kRanks));
  };
  EXPECT_GE(p(0, kPackets, 1.1), 1e-7);
  EXPECT_LT(p(0, kPackets, 1.09), 1e-7);
  for (int part = 0; part < 10; ++part) EXPECT_GE(p(kPackets * part / 10, kPackets * (part + 1) / 10, 1.1), 1e-7);
}

TEST(Trace, HasTheFramesOfTheFlowsThatItNames) {
  for (const char* spec : {"flows=500,packets=20000,dist=zipf:1.1", "flows=500,packets=20000,protocol=sessions",
                           "flows=500,packets=20000,dist=ladder,ipv6=0.5,size=imix"}) {
    const auto trace = trace_of(spec);
    std::map<std::uint32_t, FlowKey> keys;
    std::uint64_t at = 0;
    play(trace, 1, [&](const RawPacket& packet) {
      const FlowKey key = key_of(packet);
      ASSERT_EQ(keys.try_emplace(trace->flow_of(at), key).first->second, key) << at;
      ++at;
    });
    EXPECT_LE(keys.size(), 500u);
    EXPECT_GT(keys.size(), 490u);
  }
}

}  // namespace
}  // namespace parshall
