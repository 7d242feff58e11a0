// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/statistics/log_histogram.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "one_flow.hpp"
#include "pipeline/measure/flow_rows.hpp"
#include "traffic.hpp"

namespace parshall {
namespace {

constexpr double kRounding = 1 + 1e-12;

struct Percent {
  std::string name;
  std::uint64_t per_mille;
};
const std::vector<Percent> kPercents{{"p0.1", 1},  {"p1", 10},   {"p25", 250},  {"p50", 500},
                                     {"p90", 900}, {"p99", 990}, {"p99.9", 999}};

std::vector<std::string> names_of(const std::string& variable) {
  std::vector<std::string> names;
  for (const Percent& percent : kPercents) names.push_back(variable + "_" + percent.name);
  return names;
}

/// Nearest rank, in integers.
double exact(const std::vector<std::uint64_t>& sorted, std::uint64_t per_mille) {
  const std::uint64_t rank = (per_mille * sorted.size() + 999) / 1000;
  return static_cast<double>(sorted[rank - 1]);
}

void expect_within_error(std::vector<std::uint64_t> samples, double error) {
  OneFlow flow(names_of("gap"), {QuantileMethod::histogram, error});
  flow.add(samples);
  std::ranges::sort(samples);
  for (const Percent& percent : kPercents) {
    const double expected = exact(samples, percent.per_mille);
    const double reported = flow["gap_" + percent.name + "_packets"].value();
    EXPECT_LE(std::abs(reported - expected), error * expected * kRounding) << percent.name << " is " << expected;
  }
}

TEST(LogHistogram, IsWithinItsErrorOnAnyDataAndLength) {
  for (const Distribution& distribution : {kUniform, kZipf, kExponential, kLognormal, kBimodal, kZeroOrOne}) {
    for (const std::size_t length : {1, 2, 3, 4, 5, 7, 10, 31, 32, 33, 100, 999, 1000, 12'345, 100'000}) {
      for (const double error : {0.05, 0.01, 0.3}) {
        SCOPED_TRACE(std::string(distribution.name) + " " + std::to_string(length) + " " + std::to_string(error));
        expect_within_error(draw(distribution, length, length), error);
      }
    }
    SCOPED_TRACE(distribution.name);
    expect_within_error(draw(distribution, 1'000'000, 1), 0.05);
  }
}

TEST(LogHistogram, IsWithinItsErrorOnOrderedAndOnWideData) {
  std::vector<std::uint64_t> samples(10'000);
  std::iota(samples.begin(), samples.end(), std::uint64_t{0});
  expect_within_error(samples, 0.05);
  std::ranges::reverse(samples);
  expect_within_error(samples, 0.05);
  std::mt19937_64 random(2);
  for (auto& sample : samples) sample = random() >> (24 + random() % 40);  // each octave below 2^40 alike
  expect_within_error(samples, 0.05);
}

TEST(LogHistogram, IsExactOnSmallValues) {
  for (std::uint64_t value = 0; value < 16; ++value) {
    OneFlow flow({"gap_p50"});
    flow.add(std::vector<std::uint64_t>(3, value));
    EXPECT_EQ(flow["gap_p50_packets"], static_cast<double>(value));
  }
}

TEST(LogHistogram, CountsValuesBeyondItsRangeInTheLastBin) {
  OneFlow flow({"iat_p1", "iat_p99"});
  flow.add(std::array<std::uint64_t, 3>{~std::uint64_t{0}, std::uint64_t{1} << 40, 5});
  EXPECT_EQ(flow["iat_p1_ns"], 5);
  EXPECT_NEAR(*flow["iat_p99_ns"], 0x1p40, 0.05 * 0x1p40);
}

TEST(LogHistogram, HoldsEveryFrameLengthThereIs) {
  OneFlow flow({"size_p50"});
  flow.add(std::array<std::uint64_t, 1>{0xffff'ffff});
  EXPECT_NEAR(*flow["size_p50_bytes"], 0x1p32, 0.05 * 0x1p32);
}

TEST(LogHistogram, IsStillRightAfterTwoToThe25SamplesOfOneFlow) {
  OneFlow flow({"gap_p50", "gap_p99"});
  std::mt19937_64 random(3);
  std::array<std::uint64_t, kStatBatch> batch;
  for (std::size_t i = 0; i < std::size_t{1} << 25; i += batch.size()) {
    for (auto& sample : batch) sample = random() % 1'000'000;
    flow.add(batch);
  }
  EXPECT_NEAR(*flow["gap_p50_packets"], 500'000, 25'500);
  EXPECT_NEAR(*flow["gap_p99_packets"], 990'000, 50'000);
}

std::uint32_t* bins_in(OneFlow& flow) { return reinterpret_cast<std::uint32_t*>(flow.row()); }

/// Sets a bin as if that many samples had been added, of a flow with carries.
void set_bin(OneFlow& flow, std::size_t bin, std::uint32_t count) {
  flow.state()[bin] = static_cast<std::byte>(count % 256);
  reinterpret_cast<std::uint32_t*>(flow.carries())[bin] = count / 256;
}

TEST(LogHistogram, HalvesAllBinsWhenOneIsFullAndForgetsNoValue) {
  OneFlow flow({"gap_p50", "gap_p99", "gap_p0.0000001"});
  flow.add(std::vector<std::uint64_t>(256, 7));  // so that it has carries
  EXPECT_EQ(bins_in(flow)[7], 256u);
  set_bin(flow, 1, 1);
  set_bin(flow, 7, 0xffff'ffff);
  set_bin(flow, 9, 0x1000'0000);
  flow.add(std::array<std::uint64_t, 2>{7, 7});
  EXPECT_EQ(bins_in(flow)[1], 1u);
  EXPECT_EQ(bins_in(flow)[7], 0x8000'0002u);
  EXPECT_EQ(bins_in(flow)[9], 0x0800'0000u);
  EXPECT_EQ(flow["gap_p0.0000001_packets"], 7);  // the value 1 is one of 2.3 billion
  EXPECT_EQ(flow["gap_p50_packets"], 7);
  EXPECT_EQ(flow["gap_p99_packets"], 9);
}

TEST(LogHistogram, MergedFromPartsIsTheWholeBitForBit) {
  const auto samples = draw(kLognormal, 100'000, 4);
  OneFlow whole(names_of("gap")), merged(names_of("gap")), rest(names_of("gap"));
  whole.add(samples);
  merged.add(std::span(samples).first(3000));
  rest.add(std::span(samples).subspan(3000));
  merged.merge(rest);
  EXPECT_EQ(std::memcmp(merged.row(), whole.row(), whole.set().row_bytes()), 0);
}

TEST(LogHistogram, CarriesOfAFlowMoveWithItAndEndWithIt) {
  FlowRows rows(std::make_shared<StatisticSet>(*make_statistics(std::vector<std::string>{"size_p50", "gap_p50"}, {})),
                8);
  const auto play = [&](std::uint32_t slot, int packets) {
    for (int i = 0; i < packets; ++i) {
      const auto place = LinkPlace{static_cast<std::uint64_t>(i), 0};
      const RowUpdate packet{slot, i == 0, false, false, CountWord::packet(100, 114, 0), 1000, place};
      rows.update({&packet, 1});
    }
  };
  const auto samples = [&](std::uint32_t slot) {
    const auto row = rows.statistics(slot);
    const auto* const bins = reinterpret_cast<const std::uint32_t*>(row.data());
    return std::accumulate(bins, bins + row.size() / sizeof *bins, std::uint64_t{0});
  };
  play(3, 1000);
  play(4, 200);
  EXPECT_EQ(samples(3), 1000u + 999u);
  EXPECT_EQ(samples(4), 200u + 199u);
  rows.move(3, 5);
  EXPECT_EQ(samples(5), 1000u + 999u);
  play(3, 300);
  EXPECT_EQ(samples(3), 300u + 299u) << "without carries of the flow before";
  EXPECT_EQ(samples(5), 1000u + 999u);
}

TEST(LogHistogram, MergedBinsThatWouldOverflowAreHalved) {
  OneFlow into({"gap_p50"}), from({"gap_p50"});
  bins_in(into)[3] = 0xffff'ffff;
  bins_in(from)[3] = 0xffff'ffff;
  bins_in(from)[5] = 3;
  into.merge(from);
  EXPECT_EQ(bins_in(into)[3], 0xffff'ffffu);
  EXPECT_EQ(bins_in(into)[5], 2u);
}

}  // namespace
}  // namespace parshall
