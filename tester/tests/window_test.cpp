// SPDX-License-Identifier: Apache-2.0
// What is left of exactness where a flow gets more frames than its window holds, or than 32 bits count.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "by_definition.hpp"
#include "tester/flow_book.hpp"

namespace parshall::tester {
namespace {

constexpr std::uint64_t kWindowBegin = 1'700'000'000'000'000'000;
constexpr std::uint64_t kTwoTo32 = std::uint64_t{1} << 32;

Arrival frame(std::uint64_t sequence, std::uint64_t spacing_ns = 1000) {
  const std::uint64_t sent_ns = kWindowBegin + sequence * spacing_ns;
  return {.sequence = static_cast<std::uint32_t>(sequence), .sent_ns = sent_ns, .received_ns = sent_ns + 500};
}

void take(FlowBook& book, std::uint64_t sequence) {
  const Arrival arrival = frame(sequence);
  book.add({&arrival, 1});
}

TEST(Window, ChangesNothingForFramesThatComeWithinIt) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300 && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    constexpr std::size_t kWindow = 128, kWindowFrames = 1500;
    std::vector<std::pair<std::uint64_t, Arrival>> order;
    std::vector<std::uint64_t> times;
    bool is_lost = false;
    for (std::uint64_t sequence = 0; sequence < kWindowFrames; ++sequence) {
      times.push_back(frame(sequence).sent_ns);
      if (random() % 8 == 0) is_lost = random() % 4 == 0;  // a sequence is late by less than the window less a block
      if (random() % 400 == 0) sequence += 64 * (random() % 8);
      while (times.size() <= sequence && times.size() < kWindowFrames) times.push_back(frame(times.size()).sent_ns);
      if (!is_lost && sequence < kWindowFrames)
        order.emplace_back(sequence + random() % (kWindow - 64), frame(sequence));
    }
    times.resize(kWindowFrames);
    std::ranges::stable_sort(order, {}, [](const auto& entry) { return entry.first; });
    std::vector<Arrival> arrivals;
    for (const auto& entry : order) arrivals.push_back(entry.second);
    FlowBook book({.streams = 1, .frames = kWindowFrames}, {.window_frames = kWindow, .jumps = 256});
    book.add(arrivals);
    expect_same(book.flow(0, kWindowFrames), by_definition(arrivals, times));
  }
}

TEST(Window, CountsFramesFromBeforeItAsTooLateAndLost) {
  FlowBook book({.streams = 1, .frames = 1000}, {.window_frames = 128});
  for (std::uint64_t sequence = 0; sequence < 500; ++sequence)
    if (sequence != 100 && sequence != 400) take(book, sequence);
  take(book, 100);
  take(book, 99);
  take(book, 400);
  take(book, 401);
  const FlowResult result = book.flow(0, 500);
  EXPECT_EQ(result.too_late, 2u);  // 100, and 99, which is a duplicate but nobody knows any more
  EXPECT_EQ(result.reordered, 1u);
  EXPECT_EQ(result.duplicates, 1u);
  EXPECT_EQ(result.losses.frames, 1u);
  EXPECT_EQ(result.received + result.losses.frames, result.sent);
}

TEST(Window, IsPassedByAJumpAsBySingleFrames) {
  for (const std::uint64_t jump_to : {127, 128, 129, 191, 192, 1000, 100'000, 20'000'003}) {
    SCOPED_TRACE(jump_to);
    FlowBook book({.streams = 1, .frames = kTwoTo32}, {.window_frames = 128});
    for (std::uint64_t sequence = 0; sequence < 70; ++sequence) take(book, sequence);
    for (std::uint64_t sequence = jump_to; sequence < jump_to + 300; ++sequence) take(book, sequence);
    const FlowResult result = book.flow(0, jump_to + 300);
    EXPECT_EQ(result.received, 370u);
    EXPECT_EQ(result.losses.frames, jump_to - 70);
    EXPECT_EQ(result.losses.periods, 1u);
    EXPECT_EQ(result.losses.longest_frames, jump_to - 70);
    EXPECT_EQ(result.losses.longest_ns, (jump_to - 70) * 1000);
  }
}

TEST(Window, FollowsSequencesPast32Bits) {
  FlowBook book({.streams = 1, .frames = 3 * kTwoTo32}, {.window_frames = 1024});
  const std::uint64_t almost = kTwoTo32 - 200;
  for (const std::uint64_t far : {std::uint64_t{0}, almost / 2, almost}) take(book, far);
  std::vector<std::uint64_t> order;
  for (std::uint64_t sequence = almost + 1; sequence < kTwoTo32 + 200; ++sequence) order.push_back(sequence);
  std::swap(order[198], order[199]);  // the last before the turn and the first after it
  std::erase(order, kTwoTo32 + 5);
  for (const std::uint64_t sequence : order) take(book, sequence);
  take(book, kTwoTo32 - 7);  // again
  const FlowResult result = book.flow(0, kTwoTo32 + 201);
  EXPECT_EQ(result.received, order.size() + 3);
  EXPECT_EQ(result.reordered, 1u);
  EXPECT_EQ(result.overtaking, 1u);
  EXPECT_EQ(result.duplicates, 1u);
  EXPECT_EQ(result.losses.frames, almost - 2 + 2);
  EXPECT_EQ(result.losses.periods, 4u);
  EXPECT_EQ(book.contradictory(), 0u);
}

TEST(Window, HasMemoryThatTheFramesAndStreamsSay) {
  const FlowBook few({.streams = 1000, .frames = 100});
  EXPECT_LE(few.bytes(), 64'000u + 1000 * (64 + 320 + 1024 * 16 + 2 * 32));
  const FlowBook flows({.streams = 1'000'000, .frames = 64});
  EXPECT_LE(flows.bytes(), 64'000u + 1'000'000u * (64 + 320 + 8 * 16 + 32));
  const FlowBook long_flows({.streams = 1'000'000, .frames = 1'000'000});
  EXPECT_LE(long_flows.bytes(), 64'000u + 1'000'000u * (64 + 320 + 8 * 16) + (1u << 30));
  const FlowBook many({.streams = 10, .frames = 1'000'000'000});
  EXPECT_LE(many.bytes(), 64'000u + 10 * (64 + 320 + 1024 * 16 + 65'536 / 2));
}

TEST(Extents, AreLowerBoundsWhereTheJumpWasForgotten) {
  const auto result_of = [](std::size_t jumps) {
    FlowBook book({.streams = 1, .frames = 100}, {.jumps = jumps});
    for (std::uint64_t sequence = 1; sequence < 40; sequence += 2) take(book, sequence);  // 20 jumps
    for (const std::uint64_t late : {38, 30, 0}) take(book, late);
    return book.flow(0, 100);
  };
  const FlowResult exact = result_of(32), bounded = result_of(4);
  EXPECT_EQ(exact.extents_at_least, 0u);
  EXPECT_EQ(exact.extent_sum, (20u - 19) + (21u - 15) + 22u);
  EXPECT_EQ(bounded.extents_at_least, 2u);
  EXPECT_EQ(bounded.extent_sum, 1u + (21 - 16) + (22 - 16));
}

TEST(LossDuration, IsExactForPeriodsOverTheEndOfABlockHoweverFramesAreSent) {
  FlowBook book({.streams = 1, .frames = 300});
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> times{kWindowBegin};
  while (times.size() < 300) times.push_back(times.back() + 1 + random() % 1'000'000);
  std::vector<Arrival> arrivals;
  for (std::uint32_t sequence = 0; sequence < 300; ++sequence)
    if (sequence < 101 || sequence > 200)
      arrivals.push_back({.sequence = sequence, .sent_ns = times[sequence], .received_ns = times[sequence] + 5});
  std::shuffle(arrivals.begin() + 80, arrivals.begin() + 120, random);
  book.add(arrivals);
  EXPECT_EQ(book.flow(0, 300).losses.longest_ns, (times[201] - times[100]) * 100 / 101);
}

TEST(LossDuration, IsNoneWhereTheClockOfTheSenderWentBack) {
  FlowBook book({.streams = 1, .frames = 10});
  const std::array<Arrival, 2> arrivals{
      {{.sequence = 0, .sent_ns = kWindowBegin + 1000, .received_ns = kWindowBegin + 2000},
       {.sequence = 2, .sent_ns = kWindowBegin, .received_ns = kWindowBegin + 3000}}};
  book.add(arrivals);
  EXPECT_EQ(book.flow(0, 3).losses.longest_ns, 0u);
}

TEST(LossDuration, OfTheLongestInTimeIsNotThatOfTheMostFrames) {
  FlowBook book({.streams = 1, .frames = 1000});
  std::vector<Arrival> arrivals;
  for (std::uint64_t sequence = 0; sequence < 1000; ++sequence) {
    const std::uint64_t sent_ns =
        kWindowBegin + (sequence < 500 ? sequence * 10'000 : 5'000'000 + (sequence - 500) * 10);
    const bool is_lost = (sequence >= 100 && sequence < 170) || (sequence >= 600 && sequence < 800);
    if (!is_lost)
      arrivals.push_back(
          {.sequence = static_cast<std::uint32_t>(sequence), .sent_ns = sent_ns, .received_ns = sent_ns});
  }
  book.add(arrivals);
  const Losses losses = book.flow(0, 1000).losses;
  EXPECT_EQ(losses.longest_frames, 200u);
  EXPECT_EQ(losses.longest_ns, 700'000u);
}

}  // namespace
}  // namespace parshall::tester
