// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <string>

#include "base/random.hpp"
#include "pipeline/flow/flow_sample.hpp"
#include "pipeline/measure/tasks/registry.hpp"

namespace parshall {
namespace {

/// Flows of many sources, some of which have a few large flows and some many small ones; both directions of each.
class Sampled : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  static constexpr std::uint32_t kSources = 40, kConnections = 3000;

  Sampled() {
    SplitMix64 random(11);
    const Zipf source_of(0.8, kSources), size_of(1.2, 2000);
    for (std::uint32_t i = 0; i < kConnections; ++i) {
      FlowWindow flow;
      flow.key.ip_version = 4;
      flow.key.protocol = 6;
      flow.key.src_port_bytes = {static_cast<std::uint8_t>(i >> 8), static_cast<std::uint8_t>(i)};
      const auto source = static_cast<std::uint32_t>(source_of(random)), server = 0xFF000001u;
      std::memcpy(flow.key.address.data(), &source, 4);
      std::memcpy(flow.key.address.data() + 4, &server, 4);
      flow.packets = 1 + size_of(random);
      flow.ip_bytes = 100 * flow.packets;
      flow.wire_bytes = 114 * flow.packets;
      flow.starts = i % 3 == 0;
      for (const bool back : {false, true}) {
        if (back) flow.key = opposite(flow.key);
        flows_.push_back(flow);
        totals_.packets += flow.packets;
        totals_.ip_bytes += flow.ip_bytes;
        totals_.wire_bytes += flow.wire_bytes;
      }
    }
  }

  /// What a task says of one in so many connections, by key ("" of a summary).
  std::map<std::string, Event> say(const std::string& task, std::uint32_t one_in, std::uint64_t seed) {
    auto tasks = TaskSets::make(std::vector<TaskSpec>{{task}}, {.keys = 4096});
    if (!tasks) throw std::runtime_error(tasks.error().message);
    FlowSample sample(seed);
    sample.set_one_in(one_in);
    std::vector<FlowWindow> seen;
    EventWindow window{.length = {}, .number = 3, .totals = totals_};
    window.totals.one_in = one_in;
    for (FlowWindow flow : flows_) {
      if (!sample.takes(flow.key)) {
        window.totals.shed_packets += flow.packets;
        window.totals.shed_wire_bytes += flow.wire_bytes;
        continue;
      }
      flow.stands_for = one_in;
      seen.push_back(flow);
    }
    TaskSet& set = tasks->sets()[0];
    set.flows(seen);
    std::map<std::string, Event> events;
    set.end(window, [&](Event&& event) {
      events[std::string(reinterpret_cast<const char*>(event.key.address.data()), 4)] = std::move(event);
    });
    share_ = set.members()[0].share;
    return events;
  }

  static double value_of(const std::vector<EventValue>& values, const std::string& name) {
    for (const EventValue& value : values)
      if (value.name == name) return std::visit([](auto number) { return static_cast<double>(number); }, value.value);
    ADD_FAILURE() << "no " << name;
    return -1;
  }

  struct Truth {
    double packets = 0, wire_bytes = 0, flows = 0, new_flows = 0;
  };
  std::map<std::string, Truth> truth() const {
    std::map<std::string, Truth> by_source;
    for (const FlowWindow& flow : flows_)
      for (const std::string& key :
           {std::string(reinterpret_cast<const char*>(flow.key.address.data()), 4), std::string("all")}) {
        Truth& of = by_source[key];
        of.packets += static_cast<double>(flow.packets);
        of.wire_bytes += static_cast<double>(flow.wire_bytes);
        of.flows += 1;
        of.new_flows += flow.starts;
      }
    return by_source;
  }

  std::vector<FlowWindow> flows_;
  WindowTotals totals_;
  std::optional<Recall> share_;
};
INSTANTIATE_TEST_SUITE_P(OneIn, Sampled, ::testing::Values(2u, 5u, 20u));

constexpr int kSeeds = 200;

/// How often an interval that is to hold in 95 of 100 cases may miss, at least, of so many.
double least_held(int cases) { return 0.95 * cases - 3 * std::sqrt(0.95 * 0.05 * cases); }

TEST_P(Sampled, TheNumberOfFlowsIsWithinItsIntervalAndRightOnAverage) {
  const Truth all = truth()["all"];
  int flows_held = 0, new_flows_held = 0;
  double sum = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Event event = say("count", GetParam(), seed).begin()->second;
    EXPECT_EQ(value_of(event.values, "packets"), all.packets) << "what is shed is counted";
    EXPECT_EQ(value_of(event.error, "sampled_one_in"), GetParam());
    const auto holds = [&](const std::string& name, double truth) {
      return value_of(event.error, name + "_at_least") <= truth && truth <= value_of(event.error, name + "_at_most");
    };
    flows_held += holds("flows", all.flows);
    new_flows_held += holds("new_flows", all.new_flows);
    sum += value_of(event.values, "flows");
  }
  EXPECT_GE(flows_held, least_held(kSeeds));
  EXPECT_GE(new_flows_held, least_held(kSeeds));
  const double n = GetParam(), sd = std::sqrt(2 * all.flows * (n - 1) / kSeeds);
  EXPECT_NEAR(sum / kSeeds, all.flows, 4 * sd);
}

/// Of keys with many flows; those with few are known by what was seen.
TEST_P(Sampled, HeavyHittersAreWithinTheirIntervalsAndNoneIsReportedWrongly) {
  const auto all = truth();
  const std::string server("\x01\0\0\xFF", 4);
  const double threshold = 0.02 * static_cast<double>(totals_.wire_bytes);
  int held = 0, cases = 0, wrong = 0, reported = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed)
    for (const auto& [key, event] : say("heavy-hitters:threshold=2%", GetParam(), seed)) {
      const Truth& of = all.at(key);
      const double least = value_of(event.error, "wire_bytes_at_least"),
                   most = value_of(event.error, "wire_bytes_at_most");
      EXPECT_LE(least, value_of(event.values, "wire_bytes"));
      EXPECT_LE(most, static_cast<double>(totals_.wire_bytes));
      ++reported;
      wrong += of.wire_bytes < threshold;
      if (key != server) continue;  // has all flows, half of the bytes
      ++cases;
      held += least <= of.wire_bytes && of.wire_bytes <= most;
    }
  EXPECT_GE(held, least_held(cases));
  EXPECT_LE(wrong, 0.05 * reported);
  EXPECT_GT(cases, kSeeds / 2);
}

/// By the keys whose traffic is one connection.
TEST_P(Sampled, WhatShareOfTheHeavyHittersIsFoundIsSaid) {
  flows_.clear();
  totals_ = {};
  constexpr std::uint32_t kKeys = 300;
  for (std::uint32_t i = 0; i < kKeys; ++i) {
    FlowWindow flow;
    flow.key.ip_version = 4;
    std::memcpy(flow.key.address.data(), &i, 4);
    flow.packets = 10 + i % 7;
    flow.wire_bytes = 100 * flow.packets;
    flows_.push_back(flow);
    totals_.packets += flow.packets;
    totals_.wire_bytes += flow.wire_bytes;
  }
  int held = 0;
  double said = 0, found = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const double share = static_cast<double>(say("heavy-hitters:threshold=1000", GetParam(), seed).size()) / kKeys;
    ASSERT_TRUE(share_);
    held += share_->at_least <= share;
    said += share_->expected, found += share;
  }
  EXPECT_GE(held, least_held(kSeeds));
  EXPECT_NEAR(said / found, 1, 0.1);
}

TEST_P(Sampled, EntropyIsWithinItsInterval) {
  const double exact = value_of(say("entropy:key=src", 1, 0).begin()->second.values, "entropy_bits");
  int held = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Event event = say("entropy:key=src", GetParam(), seed).begin()->second;
    held += value_of(event.error, "entropy_bits_at_least") <= exact &&
            exact <= value_of(event.error, "entropy_bits_at_most");
  }
  EXPECT_GE(held, least_held(kSeeds));
}

TEST_P(Sampled, FlowSizesAndQuantilesAreOfAllFlows) {
  const Event exact = say("flow-sizes", 1, 0).begin()->second;
  int held = 0, cases = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Event event = say("flow-sizes", GetParam(), seed).begin()->second;
    for (const EventValue& octave : event.values) {
      const double truth = value_of(exact.values, octave.name);
      if (truth < 300) continue;
      ++cases;
      held += value_of(event.error, octave.name + "_at_least") <= truth &&
              truth <= value_of(event.error, octave.name + "_at_most");
    }
    const Event quantiles = say("quantiles:of=packets", GetParam(), seed).begin()->second;
    EXPECT_EQ(std::fmod(value_of(quantiles.values, "flows"), GetParam()), 0);
    const double within = value_of(quantiles.error, "rank_within"), median = value_of(quantiles.values, "packets_p50");
    double below = 0;
    for (const FlowWindow& flow : flows_) below += static_cast<double>(flow.packets) <= 1.02 * median;
    EXPECT_GT(below / static_cast<double>(flows_.size()), 0.5 - within);
  }
  EXPECT_GE(held, least_held(cases));
  EXPECT_GT(cases, 100);
}

/// One that a smaller sample would not have had: its events are told, its numbers stand for nobody's.
TEST(SampledFlows, StandForAsManyAsThereAreForOneOrForNone) {
  const auto counts_of = [](std::uint32_t stands_for) {
    FlowWindow flow;
    flow.packets = 7, flow.starts = true, flow.stands_for = stands_for;
    KeyCounts counts;
    counts.add(flow, ~std::uint64_t{0});
    return counts;
  };
  EXPECT_EQ(counts_of(0).packets, 0u);
  EXPECT_EQ(counts_of(0).flows, 0u);
  EXPECT_EQ(counts_of(1).packets, 7u);
  EXPECT_EQ(counts_of(1).variance[0], 0);
  EXPECT_EQ(counts_of(4).packets, 28u);
  EXPECT_EQ(counts_of(4).new_flows, 4u);
  EXPECT_FLOAT_EQ(counts_of(4).variance[0], 12 * 49);
  EXPECT_FLOAT_EQ(counts_of(4).variance[3], 12);
}

}  // namespace
}  // namespace parshall
