// SPDX-License-Identifier: Apache-2.0
#include "compare/live_comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "pipeline/flow/both_ways.hpp"

namespace parshall {
namespace {

constexpr std::uint64_t kBeginNs = 1'000'000'000, kLongestNs = 100'000'000, kEndNs = kBeginNs + 20 * kLongestNs;

FlowKey flow_key(std::uint32_t connection, bool is_back) {
  FlowKey key{};
  key.protocol = 17;
  key.src_port_bytes = {static_cast<std::uint8_t>(connection >> 8), static_cast<std::uint8_t>(connection)};
  key.dst_port_bytes = {0, 53};
  key.address = {10, 0, 0, 1, 10, 0, 0, 2};
  return is_back ? opposite(key) : key;
}

/// What one tap sees, in the order of arrival.
struct Arriving {
  bool at_up;
  SeenPacket packet;
};

struct Chances {
  double lost = 0, doubled = 0, late = 0, alike = 0;
};

/// Packets both ways through a network, by arrival.
std::vector<Arriving> send(const Chances& chances, std::uint32_t seed, std::uint64_t packets = 20'000) {
  std::mt19937_64 random(seed);
  const auto happens = [&](double chance) { return std::bernoulli_distribution(chance)(random); };
  std::vector<Arriving> all;
  std::uint64_t last_id = 1;
  for (std::uint64_t number = 0; number < packets; ++number) {
    const std::uint64_t sent_ns = kBeginNs + kLongestNs + number * (kEndNs - kBeginNs - 3 * kLongestNs) / packets;
    const bool is_back = happens(0.4);
    const auto connection = static_cast<std::uint32_t>(number / 100 + random() % 5);
    const std::uint64_t id = happens(chances.alike) ? last_id : last_id = random();
    const auto see = [&](bool at_sender, std::uint64_t time_ns) {
      const bool at_up = at_sender != is_back;
      all.push_back({at_up,
                     {.key = flow_key(connection, is_back),
                      .id = id,
                      .time_ns = time_ns,
                      .ttl = static_cast<std::uint8_t>(at_sender ? 64 : 63),
                      .has_id = true}});
    };
    see(true, sent_ns);
    if (happens(chances.lost)) continue;
    const std::uint64_t delay_ns = 1'000'000 + random() % 500'000 + (happens(chances.late) ? 60'000'000 : 0);
    see(false, sent_ns + delay_ns);
    if (happens(chances.doubled)) see(false, sent_ns + delay_ns + random() % 10'000'000);
  }
  std::ranges::stable_sort(all, {}, [](const Arriving& one) { return one.packet.time_ns; });
  std::uint64_t orders[2] = {0, 0};
  for (Arriving& one : all) one.packet.order = orders[one.at_up]++;
  return all;
}

Comparison compare_afterwards(const std::vector<Arriving>& all) {
  FlowNumbers flows(1);
  Tap up, down;
  for (const Arriving& one : all) (one.at_up ? up : down).add(one.packet, flows);
  for (Tap* tap : {&up, &down}) tap->first_ns = kBeginNs, tap->last_ns = kEndNs;
  return compare(up, down, flows);
}

/// Settles every `kLongestNs`, as if the packets arrived now.
Comparison compare_live(const std::vector<Arriving>& all, LiveComparison::Limits limits = {},
                        std::uint64_t end_ns = kEndNs) {
  LiveComparison live(1, kBeginNs, limits);
  std::uint64_t next_ns = kBeginNs + kLongestNs;
  for (const Arriving& one : all) {
    for (; one.packet.time_ns >= next_ns; next_ns += kLongestNs) live.settle(next_ns);
    (one.at_up ? live.up() : live.down()).add(one.packet, live.flows());
  }
  live.end(end_ns);
  return live.result();
}

auto counts(const Passed& passed) {
  return std::tuple(passed.sent, passed.received, passed.delivered, passed.lost, passed.outside_sent,
                    passed.outside_received, passed.unlike_sent, passed.unlike_received, passed.duplicated,
                    passed.extra, passed.reordered, passed.alike, passed.delays.packets);
}

void expect_same(const Passed& live, const Passed& afterwards) {
  EXPECT_EQ(counts(live), counts(afterwards));
  const Delays &one = live.delays, &other = afterwards.delays;
  EXPECT_EQ(one.least, other.least);
  EXPECT_EQ(one.most, other.most);
  EXPECT_NEAR(one.mean, other.mean, 1e-6 * other.mean);
  EXPECT_EQ(one.variation.has_value(), other.variation.has_value());
  EXPECT_NEAR(one.variation.value_or(0), other.variation.value_or(0), 1e-6 * other.variation.value_or(0));
  for (const auto percentile : {&Delays::p50, &Delays::p90, &Delays::p99})
    EXPECT_NEAR(static_cast<double>(one.*percentile), static_cast<double>(other.*percentile),
                0.0101 * static_cast<double>(other.*percentile));
}

void expect_same(const Comparison& live, const Comparison& afterwards) {
  expect_same(live.there, afterwards.there);
  expect_same(live.back, afterwards.back);
  ASSERT_EQ(live.flows.size(), afterwards.flows.size());
  const auto find = [&](const ComparedFlow& flow) {
    return std::ranges::find_if(live.flows, [&](const ComparedFlow& one) { return one.key == flow.key; });
  };
  for (const ComparedFlow& flow : afterwards.flows) {
    const auto found = find(flow);
    ASSERT_NE(found, live.flows.end());
    EXPECT_EQ(found->way, flow.way);
    EXPECT_EQ(found->first_ns, flow.first_ns);
    EXPECT_EQ(found->last_ns, flow.last_ns);
    expect_same(found->passed, flow.passed);
  }
}

TEST(LiveComparison, TellsTheSameAsAComparisonOfWholeCaptures) {
  for (const Chances& chances : {Chances{}, Chances{.lost = 0.02}, Chances{.doubled = 0.03}, Chances{.late = 0.05},
                                 Chances{.lost = 0.05, .doubled = 0.05, .late = 0.1}}) {
    const auto all = send(chances, 7);
    const Comparison afterwards = compare_afterwards(all);
    EXPECT_EQ(afterwards.there.lost != 0, chances.lost != 0);
    EXPECT_EQ(afterwards.back.duplicated != 0, chances.doubled != 0);
    expect_same(compare_live(all), afterwards);
  }
}

TEST(LiveComparison, CountsPacketsThatAreAlike) {
  const auto all = send({.alike = 0.2}, 8);
  const Comparison live = compare_live(all), afterwards = compare_afterwards(all);
  EXPECT_GT(live.there.alike, 1000);
  expect_same(live, afterwards);
}

TEST(LiveComparison, FindsTheWayByTimesBehindASwitch) {
  auto all = send({.lost = 0.01}, 9);
  for (Arriving& one : all) one.packet.ttl = 64;
  expect_same(compare_live(all), compare_afterwards(all));
}

TEST(LiveComparison, TakesAFlowWithoutPairsForLostIfConnectionsGoOneWay) {
  LiveComparison live(1, kBeginNs, {});
  live.settle(kBeginNs), live.settle(kBeginNs);
  std::uint64_t id = 0;
  for (std::uint32_t connection = 0; connection < 10; ++connection)
    for (const bool is_reply : {false, true}) {
      const std::uint64_t sent_ns = kBeginNs + kLongestNs + ++id * 1000;
      SeenPacket packet{.key = flow_key(connection, is_reply), .id = id, .time_ns = sent_ns, .has_id = true};
      live.up().add(packet, live.flows());
      packet.time_ns += 500;
      if (id != 20) live.down().add(packet, live.flows());
    }
  live.end(kEndNs);
  EXPECT_EQ(live.result().there.lost, 1);
  EXPECT_EQ(live.result().there.sent, 20);
}

TEST(LiveComparison, DoesNotCallLostWhatWasStillOnItsWayAtTheEnd) {
  auto all = send({}, 10);
  const std::uint64_t end_ns = all[all.size() / 2].packet.time_ns;
  std::erase_if(all, [&](const Arriving& one) { return one.packet.time_ns >= end_ns + 10'000'000; });
  const Comparison live = compare_live(all, {}, end_ns);
  EXPECT_EQ(live.there.lost + live.back.lost, 0);
  EXPECT_GT(live.there.outside_sent, 0);
}

TEST(LiveComparison, DoesNotCallExtraWhatWasSentBeforeItBegan) {
  auto all = send({}, 11);
  const std::uint64_t begin_ns = all[100].packet.time_ns;
  std::erase_if(all, [&](const Arriving& one) { return one.packet.time_ns < begin_ns; });
  for (Arriving& one : all) one.packet.time_ns -= begin_ns - kBeginNs;
  const Comparison live = compare_live(all);
  EXPECT_EQ(live.there.extra + live.back.extra + live.there.lost + live.back.lost, 0);
  EXPECT_GT(live.there.outside_received + live.back.outside_received, 10);
}

TEST(LiveComparison, TakesALatePacketForLostAndExtra) {
  LiveComparison live(1, kBeginNs, {});
  SeenPacket packet{.key = flow_key(1, false), .id = 1, .time_ns = kBeginNs + 1, .ttl = 64, .has_id = true};
  const auto see = [&](Tap& tap, std::uint64_t id, std::uint64_t time_ns) {
    packet.id = id, packet.time_ns = time_ns;
    tap.add(packet, live.flows());
  };
  see(live.up(), 1, kBeginNs + kLongestNs), see(live.down(), 1, kBeginNs + kLongestNs + 1);
  live.settle(kBeginNs), live.settle(kBeginNs);
  see(live.up(), 2, kBeginNs + 2 * kLongestNs);
  live.settle(kBeginNs), live.settle(kBeginNs);
  see(live.down(), 2, kBeginNs + 4 * kLongestNs);
  live.end(kEndNs);
  const Passed passed = live.result().there;
  EXPECT_EQ(passed.lost, 1);
  EXPECT_EQ(passed.extra, 1);
}

TEST(LiveComparison, KeepsTotalsOfFlowsThatItHasNoRoomFor) {
  const auto all = send({.lost = 0.01}, 12);
  const Comparison whole = compare_live(all), limited = compare_live(all, {.flows = 100});
  expect_same(limited.there, whole.there);
  expect_same(limited.back, whole.back);
  EXPECT_LT(limited.flows.size(), whole.flows.size());
  EXPECT_GT(limited.ended_flows, 0);
}

TEST(LiveComparison, FoldsWholeFlowsFirst) {
  LiveComparison live(1, kBeginNs, {.flows = 16});
  std::uint64_t time_ns = kBeginNs + kLongestNs, id = 0, order = 0;
  for (std::uint32_t connection = 0; connection < 200; ++connection) {
    for (int packet = 0; packet < 3; ++packet) {
      const SeenPacket seen{.key = flow_key(connection, false),
                            .id = ++id,
                            .time_ns = time_ns += 1000,
                            .order = order++,
                            .ttl = 64,
                            .has_id = true};
      live.up().add(seen, live.flows());
      if (connection != 5 || packet != 1) live.down().add(seen, live.flows());
    }
    live.settle(kBeginNs), live.settle(kBeginNs);
  }
  live.end(kEndNs);
  const Comparison found = live.result();
  EXPECT_LE(found.flows.size(), 17);
  ASSERT_FALSE(found.flows.empty());
  EXPECT_EQ(found.flows.front().key, flow_key(5, false));
  EXPECT_EQ(found.flows.front().passed.lost, 1);
  EXPECT_EQ(found.there.sent, 600);
  EXPECT_EQ(found.there.lost, 1);
}

}  // namespace
}  // namespace parshall
