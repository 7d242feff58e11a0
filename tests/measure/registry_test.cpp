// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/registry.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "one_flow.hpp"
#include "pipeline/measure/statistics/quantiles.hpp"

namespace parshall {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Columns = std::vector<std::string>;

Columns columns_of(const Columns& names, const StatisticOptions& options = {}) {
  const auto set = make_statistics(names, options);
  if (!set) return {set.error().message};
  Columns columns;
  for (const Column& column : set->columns()) columns.push_back(column.name);
  return columns;
}

std::string error_of(const Columns& names, const StatisticOptions& options = {}) {
  const auto set = make_statistics(names, options);
  return set ? "no error" : set.error().message;
}

const StatisticOptions kP2{QuantileMethod::p2, 0.05};

TEST(Registry, ColumnsCarryTheirUnitAndKeepTheOrderAsked) {
  EXPECT_THAT(columns_of({"iat_p99", "gap_mean", "size_sd", "gap_skewness", "gap_p99.9", "size_p0.1"}),
              ElementsAre("iat_p99_ns", "gap_mean_packets", "size_sd_bytes", "gap_skewness", "gap_p99.9_packets",
                          "size_p0.1_bytes"));
}

TEST(Registry, SpellingsOfOneColumnAreMerged) {
  EXPECT_THAT(columns_of({"gap_p99", "gap_mean_packets", "gap_p99.0", "gap_mean", "gap_p099_packets"}),
              ElementsAre("gap_p99_packets", "gap_mean_packets"));
}

TEST(Registry, EveryListedStatisticCanBeAskedWithAndWithoutItsUnit) {
  for (const StatisticListing& line : list_statistics({})) {
    std::string name = line.name;
    if (const auto at = name.find("<percentile>"); at != std::string::npos) name.replace(at, std::string::npos, "12.5");
    if (const auto at = name.find("<1-16>"); at != std::string::npos) name.replace(at, std::string::npos, "1");
    for (const std::string_view of_first : {"vlan_1", "dscp_1", "icmp_type_code_1"})
      if (name == of_first) name.resize(name.size() - 2);  // the first packet's is the flow's
    const std::string full = line.unit.empty() ? name : name + "_" + line.unit;
    EXPECT_THAT(columns_of({name}), ElementsAre(full));
    EXPECT_THAT(columns_of({full}), ElementsAre(full));
    const auto set = make_statistics(Columns{name}, {});
    EXPECT_EQ(set->state_bytes(), line.bytes_per_flow) << name;
    EXPECT_EQ(set->mergeable(), line.mergeable) << name;
    EXPECT_TRUE(line.name.ends_with("<1-16>") || set->columns()[0].help == line.help) << name;
  }
}

TEST(Registry, WhatHeadersSayOfAFirstPacketHasAShortName) {
  EXPECT_THAT(columns_of({"vlan", "vlan_1", "vlan_2", "dscp", "ttl_max", "tcp_flags_1"}),
              ElementsAre("vlan", "vlan_2", "dscp", "ttl_max", "tcp_flags_1"));
}

TEST(Registry, NamesThatMeanNothingAreRefused) {
  for (const char* name : {"",
                           "gap",
                           "gap_",
                           "gap_p",
                           "gap_p0",
                           "gap_p100",
                           "gap_p-1",
                           "gap_p+5",
                           "gap_p1e1",
                           "gap_p5.",
                           "gap_p.5",
                           "gap_p5.5.5",
                           "gap_pnan",
                           "gap_p 9",
                           "gap_mean_ns",
                           "gap_skewness_packets",
                           "gap_p99_packets_packets",
                           "GAP_mean",
                           "mean",
                           "gap_mean ",
                           "iat_mean_packets",
                           "gapmean",
                           "gap_p0.000",
                           "gap_p99.99999999999999999999999",
                           "gap_p999999999999999999999999"}) {
    EXPECT_THAT(error_of({name}), HasSubstr("unknown statistic \"" + std::string(name) + "\"")) << name;
  }
  EXPECT_THAT(error_of({std::string("gap_mean\0", 9)}), HasSubstr("unknown"));
}

TEST(Registry, AnUnknownNameIsAnsweredWithWhatIsKnownAndWhatComesNearest) {
  EXPECT_THAT(error_of({"gap_mean", "gap_maen"}), HasSubstr("did you mean gap_mean?"));
  EXPECT_THAT(error_of({"iat_p99_n"}), HasSubstr("did you mean iat_p99_ns?"));
  EXPECT_THAT(error_of({"sizes_sd"}), HasSubstr("did you mean size_sd?"));
  EXPECT_THAT(error_of({"tcp_flags_max"}), ::testing::Not(HasSubstr("did you mean tcp_flags_max")));
  EXPECT_THAT(error_of({"nonsense"}), ::testing::Not(HasSubstr("did you mean")));
  EXPECT_THAT(error_of({"nonsense"}), HasSubstr("(parshall list statistics)"));
  EXPECT_LT(error_of({"nonsense"}).size(), 160u) << "five names, not all";
}

TEST(FlagCounts, CountThePacketsWithEachFlagAndAddUp) {
  const std::vector<std::string> columns{"tcp_flags_syn", "tcp_flags_cwr"};
  constexpr std::array<std::uint64_t, 4> kOne{0x02, 0x12, 0x80, 0x10};
  constexpr std::array<std::uint64_t, 2> kOther{0x182, 0x01};
  OneFlow one(columns), other(columns);
  one.add(kOne);
  other.add(kOther);
  one.merge(other);
  EXPECT_EQ(one["tcp_flags_syn"], 3);
  EXPECT_EQ(one["tcp_flags_cwr"], 2);
  EXPECT_EQ(other["tcp_flags_syn"], 1);
}

TEST(Registry, MeasuresOfOneVariableShareOneState) {
  const auto moments = make_statistics(Columns{"gap_mean", "gap_sd", "gap_max"}, {});
  EXPECT_EQ(moments->statistics().size(), 1u);
  const auto percentiles = make_statistics(Columns{"gap_p50", "gap_p99", "iat_p50"}, {});
  EXPECT_EQ(percentiles->statistics().size(), 2u);
  EXPECT_EQ(make_statistics(Columns{"gap_p50", "gap_p99"}, kP2)->statistics().size(), 2u);
}

TEST(Registry, OnlyWhatWasAskedTakesMemory) {
  const auto bytes = [](const Columns& names) { return make_statistics(names, {})->row_bytes(); };
  EXPECT_EQ(bytes({}), 0u);
  EXPECT_EQ(bytes({"gap_mean"}), 16u);
  EXPECT_EQ(bytes({"gap_sd", "gap_mean"}), 24u);
  EXPECT_EQ(bytes({"gap_kurtosis"}), 40u);
  EXPECT_EQ(bytes({"gap_kurtosis", "gap_last", "gap_min", "gap_max"}), 64u);
}

TEST(Registry, P2AndItsPrefixFillOneCacheLineWhateverElseIsAsked) {
  const auto set = make_statistics(Columns{"gap_mean", "gap_p99"}, kP2);
  ASSERT_EQ(set->statistics().size(), 2u);
  EXPECT_EQ(set->statistics()[0].offset, 0u);
  EXPECT_EQ(set->statistics()[0].statistic->row_bytes(), 56u);
  EXPECT_EQ(set->statistics()[1].offset, 56u);
}

TEST(Registry, ASetMergesOnlyIfAllItsStatisticsDo) {
  EXPECT_TRUE(make_statistics(Columns{"gap_mean", "gap_p99"}, {})->mergeable());
  EXPECT_FALSE(make_statistics(Columns{"gap_mean", "gap_p99"}, kP2)->mergeable());
  EXPECT_FALSE(make_statistics(Columns{"gap_last", "gap_mean"}, {})->mergeable());
}

/// Row of a biflow's record with one sample for each direction, and one for both.
std::vector<std::uint64_t> biflow_row(const StatisticSet& set, std::uint64_t forward, std::uint64_t reverse,
                                      std::uint64_t both) {
  std::vector<std::uint64_t> row(set.row_bytes() / sizeof(std::uint64_t));
  auto* const bytes = reinterpret_cast<std::byte*>(row.data());
  const auto add = [](const StatisticSet& of, std::byte* at, std::uint64_t sample) {
    for (const auto& placed : of.statistics())
      placed.statistic->update({std::array{at}, placed.row_offset, std::array{sample}});
  };
  add(set, bytes, forward);
  if (set.has_reverse()) add(set, bytes + set.direction_row_bytes(), reverse);
  if (set.both()) add(*set.both(), bytes + set.both_at(), both);
  return row;
}

TEST(Registry, ABiflowsRowHasEachDirectionAndBothAndMergesEach) {
  for (const Columns& names :
       {Columns{"both_size_max", "size_max", "reverse_size_mean", "both_size_min", "reverse_size_max"},
        Columns{"reverse_size_max"}, Columns{"both_size_max"}, Columns{"size_max", "both_size_max"}}) {
    const auto set = make_statistics(names, {.biflows = true});
    ASSERT_TRUE(set) << set.error().message;
    EXPECT_TRUE(set->mergeable());
    auto row = biflow_row(*set, 10, 20, 30);
    const auto other = biflow_row(*set, 11, 12, 13);
    set->merge(reinterpret_cast<std::byte*>(row.data()), reinterpret_cast<const std::byte*>(other.data()));
    std::vector<std::optional<double>> values(names.size());
    set->read(reinterpret_cast<const std::byte*>(row.data()), values);
    const std::map<std::string, double> wanted{{"size_max", 11},
                                               {"reverse_size_max", 20},
                                               {"reverse_size_mean", 16},
                                               {"both_size_max", 30},
                                               {"both_size_min", 13}};
    for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(values[i], wanted.at(names[i])) << names[i];
  }
}

TEST(Registry, DirectionsShareWhatTheyKeepAndCountInLimitsAndNeeds) {
  const StatisticOptions options{.biflows = true};
  const auto plain = make_statistics(Columns{"iat_mean", "iat_max"}, options);
  const auto both_ways =
      make_statistics(Columns{"iat_mean", "reverse_iat_mean", "reverse_iat_max", "iat_max"}, options);
  EXPECT_EQ(both_ways->state_bytes(), plain->state_bytes());
  EXPECT_EQ(both_ways->row_bytes(), 2 * plain->row_bytes());
  EXPECT_FALSE(make_statistics(Columns{"both_size_max"}, options)->needs_tcp());
  EXPECT_TRUE(make_statistics(Columns{"both_rtt_min"}, options)->needs_tcp());
  EXPECT_TRUE(make_statistics(Columns{"both_ttl_max"}, options)->needs_side());
  EXPECT_FALSE(make_statistics(Columns{"iat_max", "both_gap_last"}, options)->mergeable());
  Columns many;
  for (int i = 1; i <= 65; ++i) many.push_back(fmt::format("{}iat_p{}", i % 2 ? "both_" : "reverse_", i));
  EXPECT_THAT(error_of(many, options), HasSubstr("65 columns"));
}

TEST(Registry, AnEmptyRowHasNoValues) {
  for (const StatisticOptions& options : {StatisticOptions{}, kP2}) {
    const OneFlow flow(
        {"gap_last", "gap_min", "gap_max", "gap_mean", "gap_sd", "gap_skewness", "gap_kurtosis", "gap_p99", "iat_mean"},
        options);
    for (const Column& column : flow.set().columns()) EXPECT_FALSE(flow[column.name]) << column.name;
  }
}

TEST(Registry, ValuesComeBackInTheOrderAskedForEveryOrder) {
  Columns names{"gap_p50", "gap_max", "gap_p90", "gap_min"};
  std::ranges::sort(names);
  do {
    for (const StatisticOptions& options : {StatisticOptions{}, kP2}) {
      OneFlow flow(names, options);
      flow.add(std::array<std::uint64_t, 3>{3, 1, 2});
      std::vector<std::optional<double>> values(4);
      flow.set().read(flow.row(), values);
      for (std::size_t i = 0; i < 4; ++i) {
        const double expected = names[i] == "gap_p50" ? 2 : names[i] == "gap_min" ? 1 : 3;
        EXPECT_EQ(values[i], expected) << names[i];
      }
    }
  } while (std::ranges::next_permutation(names).found);
}

TEST(Registry, RowsOfDifferentFlowsInOneBatchDoNotMix) {
  const auto set = make_statistics(Columns{"size_mean", "size_p50"}, {});
  std::vector<std::uint64_t> memory(2 * set->state_bytes() / 8), row(set->row_bytes() / 8);
  auto* const first = reinterpret_cast<std::byte*>(memory.data());
  auto* const second = first + set->state_bytes();
  auto* const record = reinterpret_cast<std::byte*>(row.data());
  for (const auto& placed : set->statistics()) {
    const std::array rows{first, second, first};
    placed.statistic->update({rows, placed.offset, std::array<std::uint64_t, 3>{4, 7, 6}});
  }
  std::array<std::optional<double>, 2> values;
  set->write_row(first, nullptr, record);
  set->read(record, values);
  EXPECT_THAT(values, ElementsAre(5.0, 4.0));
  set->write_row(second, nullptr, record);
  set->read(record, values);
  EXPECT_THAT(values, ElementsAre(7.0, 7.0));
}

TEST(Registry, AnErrorOutOfRangeAndTooManyColumnsAreRefused) {
  for (const double error : {0.0, -0.1, 0.5, 1.0, 1e-9, std::nan("")}) {
    EXPECT_THAT(error_of({"gap_p99"}, {QuantileMethod::histogram, error}), HasSubstr("relative error")) << error;
  }
  Columns many;
  for (int i = 1; i <= 65; ++i) many.push_back("gap_p" + std::to_string(i));
  EXPECT_THAT(error_of(many), HasSubstr("65 columns"));
  many.pop_back();
  EXPECT_EQ(columns_of(many).size(), 64u);
}

TEST(NearestRank, IsNotMovedByTheRoundingOfTheProbability) {
  for (std::uint64_t count = 1; count < 200'000; ++count) {
    for (const std::uint64_t per_mille : {1u, 10u, 70u, 290u, 500u, 570u, 990u, 999u}) {
      const std::uint64_t exact = (per_mille * count + 999) / 1000;
      ASSERT_EQ(nearest_rank(static_cast<double>(per_mille) / 10 / 100, count), exact) << per_mille << " " << count;
    }
  }
}

}  // namespace
}  // namespace parshall
