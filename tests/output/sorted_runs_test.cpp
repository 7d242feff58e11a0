// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/records/sorted_runs.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>
#include <string>

#include "base/random.hpp"
#include "pipeline/output/records/schema.hpp"
#include "pipeline/output/records/top_flows.hpp"
#include "temporary_folder.hpp"

namespace parshall {
namespace {

constexpr std::size_t kFlows = 20'000, kMemory = std::size_t{64} << 10;  // of a few hundred flows
constexpr std::size_t kAsked = kBaseColumns;

constexpr std::size_t kPieces = kFlows * (sizeof(FlowRecord) + sizeof(Value) + 32) / kMemory + 1;

struct Flow {
  FlowRecord record;
  std::vector<Value> values;
};

/// In packets each number is there many times; what was asked for is a number, no number, or absent. ip_bytes counts.
std::vector<Flow> make_flows() {
  std::vector<Flow> flows(kFlows);
  for (std::size_t i = 0; i < kFlows; ++i) {
    FlowRecord& record = flows[i].record;
    record.key.ip_version = 4;
    const std::uint64_t address = SplitMix64::mix(i + 2 * kFlows);
    std::memcpy(record.key.address.data(), &address, sizeof address);
    record.packets = SplitMix64::mix(i) % 97;
    record.ip_bytes = i;
    std::vector<Value>& values = flows[i].values;
    values.resize(kBaseColumns + 1);
    read_base_columns(record, std::span(values).first<kBaseColumns>());
    const std::uint64_t kind = SplitMix64::mix(i + kFlows) % 50;
    if (kind == 1) values.back() = Value::of_real(std::numeric_limits<double>::quiet_NaN());
    if (kind > 1) values.back() = Value::of_real(-1.5 * static_cast<double>(kind));
  }
  return flows;
}

struct Sorted {
  std::vector<std::uint64_t> order;  ///< by ip_bytes
  std::optional<Error> problem;
};

Sorted sort(const std::vector<Flow>& flows, std::size_t column, std::uint64_t top, std::size_t memory = kMemory) {
  Sorted sorted;
  const auto take = [&](const ReportFlow& flow) {
    const std::uint64_t i = flow.record.ip_bytes;
    sorted.order.push_back(i);
    EXPECT_EQ(flow.record.packets, flows[i].record.packets);
    EXPECT_EQ(flow.values.front(), flows[i].values.front());
    EXPECT_EQ(flow.values.back().present(), flows[i].values.back().present());
    EXPECT_EQ(flow.values.back().as_unsigned(), flows[i].values.back().as_unsigned());
  };
  const Schema schema = *Schema::make(std::vector<std::string>{"rate_pps"}, {});
  SortedRuns runs(FlowOrder(schema.columns(), column), kBaseColumns + 1, top, take, 0, memory);
  for (const Flow& flow : flows) runs.offer({flow.record, flow.values});
  runs.finish();
  sorted.problem = runs.problem();
  return sorted;
}

/// Absent, and no number, are less than all others.
double key_of(const Flow& flow, std::size_t column) {
  const double key = flow.values[column].number().value_or(-1e9);
  return std::isnan(key) ? -1e9 : key;
}

std::vector<std::uint64_t> truth(const std::vector<Flow>& flows, std::size_t column) {
  std::vector<std::uint64_t> order(kFlows);
  for (std::size_t i = 0; i < kFlows; ++i) order[i] = i;
  std::ranges::sort(order, [&](auto a, auto b) {
    const double one = key_of(flows[a], column), other = key_of(flows[b], column);
    return one == other ? record_order(flows[a].record, flows[b].record) < 0 : one > other;
  });
  return order;
}

std::size_t place_of_packets() {
  const Schema schema;
  const auto columns = schema.columns();
  return static_cast<std::size_t>(std::ranges::find(columns, "packets", &ColumnInfo::name) - columns.begin());
}

/// All of them once, in pieces of falling order: how many.
std::size_t pieces_of(const std::vector<Flow>& flows, std::vector<std::uint64_t> order) {
  std::size_t pieces = 1;
  for (std::size_t i = 1; i < order.size(); ++i)
    pieces += flows[order[i - 1]].record.packets < flows[order[i]].record.packets;
  std::ranges::sort(order);
  EXPECT_EQ(order.size(), kFlows);
  EXPECT_TRUE(std::ranges::adjacent_find(order) == order.end());
  return pieces;
}

TEST(SortedRuns, AreOneOrderWithEqualFlowsByTheirKeysHoweverManyRunsThereAre) {
  const auto flows = make_flows();
  for (const std::size_t column : {place_of_packets(), kAsked}) {
    const Sorted all = sort(flows, column, 0);
    EXPECT_FALSE(all.problem);
    EXPECT_EQ(all.order, truth(flows, column)) << "column " << column;
  }
}

TEST(SortedRuns, StopAfterTheFirstOfAll) {
  const auto flows = make_flows();
  auto first = truth(flows, place_of_packets());
  first.resize(7'000);
  EXPECT_EQ(sort(flows, place_of_packets(), 7'000).order, first);
}

TEST(SortedRuns, WhereNoFileCanBeMadeAllFlowsComeInSortedPiecesAndThatIsSaid) {
  const TemporaryFolder none("/no/such/folder");
  const auto flows = make_flows();
  for (const std::uint64_t top : {0u, 7'000u}) {
    const Sorted sorted = sort(flows, place_of_packets(), top);
    ASSERT_TRUE(sorted.problem);
    EXPECT_NE(sorted.problem->message.find("/no/such/folder"), std::string::npos) << sorted.problem->message;
    EXPECT_NE(sorted.problem->message.find("TMPDIR"), std::string::npos);
    const std::size_t pieces = pieces_of(flows, sorted.order);
    EXPECT_GT(pieces, 10u);
    EXPECT_LE(pieces, kPieces);
  }
}

TEST(SortedRuns, MoreRunsThanCanBeMergedComeInPiecesAndNoFileIsBlamed) {
  const auto flows = make_flows();
  errno = ENOSPC;  // of something before
  const Sorted sorted = sort(flows, place_of_packets(), 0, /*memory=*/1);
  ASSERT_TRUE(sorted.problem);
  EXPECT_NE(sorted.problem->message.find("more than 64 runs of 64 flows"), std::string::npos)
      << sorted.problem->message;
  EXPECT_EQ(sorted.problem->message.find("no temporary file"), std::string::npos);
  EXPECT_GT(pieces_of(flows, sorted.order), 10u);
}

TEST(SortedRuns, WhatIsInAFileThatCannotGrowIsHandedOnWithTheRest) {
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  rlimit limit = old;
  limit.rlim_cur = 10 * kMemory;
  ::setrlimit(RLIMIT_FSIZE, &limit);
  const auto flows = make_flows();
  const Sorted sorted = sort(flows, place_of_packets(), 0);
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, before);
  EXPECT_TRUE(sorted.problem);
  const std::size_t pieces = pieces_of(flows, sorted.order);
  EXPECT_GT(pieces, 5u);
  EXPECT_LT(pieces, kPieces - 8) << "the file's are one";
}

/// Each flow has a text, which is only there while the flow is offered.
template <class Sorter>
std::vector<std::string> sorted_texts(Sorter offer_all, std::vector<std::uint64_t>& numbers) {
  std::vector<std::string> texts;
  offer_all([&](const ReportFlow& flow) {
    texts.emplace_back(flow.values.back().present() ? flow.values.back().as_text() : "");
    numbers.push_back(flow.record.packets);
  });
  return texts;
}

std::string text_of_flow(std::uint64_t i) {
  if (i % 7 == 0) return {};
  return std::string(i % 250, 'x') + std::to_string(SplitMix64::mix(i) % 1000);
}

template <class Offer>
void offer_texts(std::uint64_t flows, Offer offer) {
  std::vector<Value> values(kBaseColumns + 1);
  for (std::uint64_t i = 0; i < flows; ++i) {
    FlowRecord record;
    record.key.ip_version = 4;
    record.packets = i;
    read_base_columns(record, std::span<Value, kBaseColumns>(values.data(), kBaseColumns));
    std::string text = text_of_flow(i);
    values.back() = text.empty() ? Value() : Value::of_text(text);
    offer(ReportFlow{record, values});
    std::ranges::fill(text, '!');
  }
}

void expect_falling_texts(const std::vector<std::string>& texts, const std::vector<std::uint64_t>& numbers) {
  EXPECT_TRUE(std::ranges::is_sorted(texts, std::greater()));
  for (std::size_t i = 0; i < texts.size(); ++i) ASSERT_EQ(texts[i], text_of_flow(numbers[i]));
}

TEST(SortedRuns, KeepTextsInMemoryAndInTheFile) {
  const Schema schema = *Schema::make(std::vector<std::string>{"server_name"}, {});
  for (const std::uint64_t flows : {100u, 5000u}) {
    std::vector<std::uint64_t> numbers;
    const auto texts = sorted_texts(
        [&](const SortedRuns::Visit& visit) {
          SortedRuns runs(FlowOrder(schema.columns(), kBaseColumns), kBaseColumns + 1, 0, visit, kMostText, kMemory);
          offer_texts(flows, [&](const ReportFlow& flow) { runs.offer(flow); });
          runs.finish();
          EXPECT_FALSE(runs.problem());
        },
        numbers);
    EXPECT_EQ(texts.size(), flows);
    expect_falling_texts(texts, numbers);
  }
}

TEST(TopFlows, KeepTexts) {
  const Schema schema = *Schema::make(std::vector<std::string>{"server_name"}, {});
  std::vector<std::uint64_t> numbers;
  const auto texts = sorted_texts(
      [&](const SortedRuns::Visit& visit) {
        TopFlows top(FlowOrder(schema.columns(), kBaseColumns), 50);
        offer_texts(5000, [&](const ReportFlow& flow) { top.offer(flow); });
        top.visit(visit);
      },
      numbers);
  EXPECT_EQ(texts.size(), 50);
  expect_falling_texts(texts, numbers);
}

}  // namespace
}  // namespace parshall
