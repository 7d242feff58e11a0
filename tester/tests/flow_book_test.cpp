// SPDX-License-Identifier: Apache-2.0
#include "tester/flow_book.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <string>

#include "by_definition.hpp"

namespace parshall::tester {
namespace {

constexpr std::uint64_t kBegin = 1'700'000'000'000'000'000;
constexpr std::uint64_t kSpacing = 1000;

std::vector<std::uint64_t> evenly(std::size_t frames) {
  std::vector<std::uint64_t> times(frames);
  for (std::size_t i = 0; i < frames; ++i) times[i] = kBegin + i * kSpacing;
  return times;
}

/// Frames of one flow in this order, received one after the other.
std::vector<Arrival> in_order(const std::vector<std::uint32_t>& sequences, std::uint32_t stream = 0) {
  std::vector<Arrival> arrivals;
  for (const std::uint32_t sequence : sequences)
    arrivals.push_back({.stream = stream,
                        .sequence = sequence,
                        .sent_ns = kBegin + sequence * kSpacing,
                        .received_ns = kBegin + (arrivals.size() + 2000) * kSpacing,
                        .wire_bytes = 60});
  return arrivals;
}

FlowResult result_of(const std::vector<std::uint32_t>& sequences, std::uint64_t sent, const BookOptions& options = {}) {
  FlowBook book({.streams = 1, .frames = sent}, options);
  book.add(in_order(sequences));
  return book.flow(0, sent);
}

/// Some order of `frames` frames: each is moved by some places at most, lost or repeated with these probabilities.
std::vector<std::uint32_t> some_order(std::mt19937_64& random, std::uint32_t frames) {
  const auto upto = [&](std::uint64_t most) { return random() % (most + 1); };
  const std::uint64_t loss = upto(1) * upto(60), repeats = upto(1) * upto(30), moved = upto(1) * upto(100);
  const std::uint64_t reach = std::uint64_t{1} << upto(9);
  const bool in_bursts = upto(1) == 0;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order;
  bool is_lost = false;
  for (std::uint32_t sequence = 0; sequence < frames; ++sequence) {
    if (!in_bursts || upto(20) == 0) is_lost = upto(99) < loss;
    if (is_lost) continue;
    const auto place = [&] { return sequence * 2 + (upto(99) < moved ? upto(2 * reach) : 0); };
    order.emplace_back(place(), sequence);
    if (upto(99) < repeats) order.emplace_back(place() + upto(300), sequence);
  }
  std::ranges::stable_sort(order, {}, [](const auto& frame) { return frame.first; });
  std::vector<std::uint32_t> sequences;
  for (const auto& [place, sequence] : order) sequences.push_back(sequence);
  return sequences;
}

TEST(FlowBook, SaysWhatTheDefinitionsDoOfAnyOrderOfFrames) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 4000 && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    const auto frames = static_cast<std::uint32_t>(2 + random() % (round % 4 == 0 ? 600 : 150));
    std::vector<Arrival> arrivals = in_order(some_order(random, frames));
    for (Arrival& arrival : arrivals) {
      arrival.received_ns += random() % 5'000'000;
      if (round % 5 == 0) arrival.received_ns -= random() % 5'000'000;
      arrival.wire_bytes = static_cast<std::uint32_t>(60 + random() % 1400);
    }
    FlowBook book({.streams = 1, .frames = frames}, {.jumps = 512});
    book.add(arrivals);
    expect_same(book.flow(0, frames), by_definition(arrivals, evenly(frames)));
  }
}

TEST(FlowBook, KeepsFlowsApart) {
  std::mt19937_64 random(2);
  constexpr std::uint32_t kFlows = 7, kFrames = 200;
  FlowBook book({.streams = kFlows, .frames = kFrames}, {.jumps = 256});
  std::array<std::vector<Arrival>, kFlows> flows;
  for (std::uint32_t flow = 0; flow < kFlows; ++flow) flows[flow] = in_order(some_order(random, kFrames), flow);
  std::array<std::size_t, kFlows> taken{};
  std::vector<Arrival> mixed;
  for (std::size_t left = kFlows * 400; left > 0; --left) {
    const std::size_t flow = random() % kFlows;
    if (taken[flow] < flows[flow].size()) mixed.push_back(flows[flow][taken[flow]++]);
  }
  for (std::size_t flow = 0; flow < kFlows; ++flow)
    for (; taken[flow] < flows[flow].size(); ++taken[flow]) mixed.push_back(flows[flow][taken[flow]]);
  for (std::span<const Arrival> rest(mixed); !rest.empty();) {
    const std::size_t batch = std::min<std::size_t>(rest.size(), 1 + random() % 64);
    book.add(rest.first(batch));
    rest = rest.subspan(batch);
  }
  for (std::uint32_t flow = 0; flow < kFlows; ++flow) {
    SCOPED_TRACE(flow);
    expect_same(book.flow(flow, kFrames), by_definition(flows[flow], evenly(kFrames)));
  }
}

TEST(FlowBook, HasTheExtentsOfTheExamplesOfRfc4737) {
  // Section 7: one, two and three packets reordered; of the two and three only the first is n-reordered.
  const FlowResult one = result_of({0, 1, 2, 4, 5, 6, 7, 3, 8, 9}, 10);
  EXPECT_EQ(one.reordered, 1u);
  EXPECT_EQ(one.extent_largest, 4u);
  EXPECT_EQ(one.reordered_by_3, 1u);
  EXPECT_EQ(one.overtaking, 4u);
  const FlowResult two = result_of({0, 1, 2, 3, 6, 4, 5, 7, 8, 9}, 10);
  EXPECT_EQ(two.reordered, 2u);
  EXPECT_EQ(two.extent_sum, 1u + 2u);
  EXPECT_EQ(two.reordered_by_3, 0u);
  EXPECT_EQ(two.overtaking, 1u);
  const FlowResult three = result_of({0, 1, 2, 6, 7, 8, 9, 3, 4, 5, 10}, 11);
  EXPECT_EQ(three.reordered, 3u);
  EXPECT_EQ(three.extent_sum, 4u + 5u + 6u);
  EXPECT_EQ(three.extent_largest, 6u);
  EXPECT_EQ(three.reordered_by_3, 1u);
  EXPECT_EQ(three.overtaking, 4u);
}

TEST(FlowBook, CountsTheFramesThatOvertakeAndThoseOvertakenApart) {
  const FlowResult sent_at_once = result_of({4, 0, 1, 2, 3, 5}, 6);  // what netem's reorder does
  EXPECT_EQ(sent_at_once.overtaking, 1u);
  EXPECT_EQ(sent_at_once.reordered, 4u);
  const FlowResult held_up = result_of({1, 2, 3, 4, 0, 5}, 6);
  EXPECT_EQ(held_up.overtaking, 4u);
  EXPECT_EQ(held_up.reordered, 1u);
  const FlowResult behind_a_lost_one = result_of({1, 2, 3, 4, 5}, 6);  // nobody overtakes who never comes
  EXPECT_EQ(behind_a_lost_one.overtaking, 0u);
}

TEST(FlowBook, TakesNoDuplicateForReordered) {
  const FlowResult result = result_of({0, 1, 2, 1, 3, 0, 0}, 4);
  EXPECT_EQ(result.received, 4u);
  EXPECT_EQ(result.duplicates, 3u);
  EXPECT_EQ(result.reordered, 0u);
  EXPECT_EQ(result.overtaking, 0u);
  EXPECT_EQ(result.latencies, 4u);
}

TEST(FlowBook, HasTheJitterOfRfc3550) {
  FlowBook book({.streams = 1, .frames = 5});
  const std::array<std::uint64_t, 5> transits{100, 260, 260, 20, 20};
  std::vector<Arrival> arrivals;
  for (std::uint32_t i = 0; i < transits.size(); ++i)
    arrivals.push_back({.sequence = i, .sent_ns = kBegin + i, .received_ns = kBegin + i + transits[i]});
  book.add(std::span(arrivals).first(1));
  EXPECT_FALSE(book.flow(0, 5).jitter_ns);
  book.add(std::span(arrivals).subspan(1, 1));
  EXPECT_DOUBLE_EQ(*book.flow(0, 5).jitter_ns, 160.0 / 16);
  book.add(std::span(arrivals).subspan(2));
  EXPECT_DOUBLE_EQ(*book.flow(0, 5).jitter_ns, ((10.0 * 15 / 16) + (240 - 10.0 * 15 / 16) / 16) * 15 / 16);
}

TEST(FlowBook, CountsLatenciesBelowZeroApart) {
  FlowBook book({.streams = 1, .frames = 3}, {.flow_latency_error = 0.05});
  const std::array<Arrival, 3> arrivals{{{.sequence = 0, .sent_ns = kBegin, .received_ns = kBegin + 10},
                                         {.sequence = 1, .sent_ns = kBegin, .received_ns = kBegin - 1},
                                         {.sequence = 2, .sent_ns = kBegin, .received_ns = kBegin}}};
  book.add(arrivals);
  const FlowResult result = book.flow(0, 3);
  EXPECT_EQ(result.negative_latencies, 1u);
  EXPECT_EQ(result.latencies, 2u);
  EXPECT_EQ(result.latency_least_ns, 0u);
  EXPECT_EQ(result.latency_largest_ns, 10u);
  EXPECT_EQ(book.latency_ns().count(), 2u);
  EXPECT_EQ(book.latency_ns(0)->count(), 2u);
}

TEST(FlowBook, CarriesALatencySumBeyond64Bits) {
  FlowBook book({.streams = 1, .frames = 3});
  constexpr std::uint64_t kLong = (std::uint64_t{1} << 63) - 1;
  std::vector<Arrival> arrivals;
  for (std::uint32_t i = 0; i < 3; ++i) arrivals.push_back({.sequence = i, .sent_ns = 0, .received_ns = kLong});
  book.add(arrivals);
  EXPECT_DOUBLE_EQ(*book.flow(0, 3).latency_mean_ns, static_cast<double>(kLong));
  EXPECT_DOUBLE_EQ(*book.latency_ns().mean(), static_cast<double>(kLong));
}

TEST(FlowBook, SaysNothingOfAFlowThatNeverCame) {
  const FlowResult result = result_of({}, 100);
  EXPECT_EQ(result.losses.frames, 100u);
  EXPECT_EQ(result.losses.periods, 1u);
  EXPECT_FALSE(result.losses.longest_ns || result.latency_mean_ns || result.latency_least_ns || result.jitter_ns);
  EXPECT_FALSE(result.extent_mean());
  const FlowResult unsent = result_of({}, 0);
  EXPECT_EQ(unsent.losses.frames + unsent.losses.periods, 0u);
}

TEST(FlowBook, TellsWhichFramesWereLost) {
  FlowBook book({.streams = 2, .frames = 300});
  std::vector<std::uint32_t> sequences;
  for (std::uint32_t i = 0; i < 250; ++i)
    if (i != 3 && (i < 60 || i >= 130) && i != 0) sequences.push_back(i);
  book.add(in_order(sequences, 1));
  std::vector<std::pair<std::uint64_t, std::uint64_t>> runs;
  book.each_loss(1, 270, [&](LossRun run) { runs.emplace_back(run.first, run.frames); });
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> expected{{0, 1}, {3, 1}, {60, 70}, {250, 20}};
  EXPECT_EQ(runs, expected);
}

TEST(FlowBook, CountsWhatIsAgainstThePlanAsContradictory) {
  FlowBook book({.streams = 1, .frames = 10});
  book.add(in_order({0, 1, 10, 0xFFFF'FFFF, 2}));
  EXPECT_EQ(book.contradictory(), 2u);
  EXPECT_EQ(book.flow(0, 10).received, 3u);
  book.add(in_order({3, 4, 5, 6, 7, 8, 9, 10}));  // one too many, in its turn
  EXPECT_EQ(book.contradictory(), 3u);
  EXPECT_EQ(book.flow(0, 10).received, 10u);
}

TEST(FlowBook, NeverSaysThatMoreWereSentOrReceivedThanWereSent) {
  FlowBook book({.streams = 2, .frames = 1000});
  book.add(in_order({0, 1, 2, 4, 5}));
  const FlowResult result = book.flow(0, 4);
  EXPECT_EQ(result.sent, 4u);
  EXPECT_EQ(result.received, 3u);
  EXPECT_EQ(result.losses.frames, 1u);
  EXPECT_EQ(result.contradictory, 2u);
  std::vector<LossRun> runs;
  book.each_loss(0, 4, [&](LossRun run) { runs.push_back(run); });
  EXPECT_TRUE(runs.size() == 1 && runs[0].first == 3 && runs[0].frames == 1);
  std::vector<std::uint32_t> of_another(300);
  std::iota(of_another.begin(), of_another.end(), 0);
  book.add(in_order(of_another, 1));
  for (const std::uint64_t sent : {0, 1, 63, 64, 65, 299, 300}) {
    const FlowResult all = book.flow(1, sent);
    EXPECT_TRUE(all.sent == sent && all.received == sent && all.losses.frames == 0) << sent;
    EXPECT_EQ(all.contradictory, 300 - sent);
  }
}

TEST(FlowBook, SaysNoMoreThanWasSentWhereItsWindowIsPastThat) {
  FlowBook book({.streams = 1, .frames = 1'000'000}, {.window_frames = 128});
  book.add(in_order({0, 1, 3, 10'000, 10'001, 500'000}));
  const FlowResult result = book.flow(0, 5);
  EXPECT_EQ(result.sent, 5u);
  EXPECT_EQ(result.received + result.losses.frames, 5u);
  EXPECT_EQ(result.received + result.contradictory, 6u);
}

}  // namespace
}  // namespace parshall::tester
