// SPDX-License-Identifier: Apache-2.0
#include "engine/turns.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/random.hpp"

namespace parshall {
namespace {

constexpr std::size_t kWorkers = 3;  ///< in all tests: packets are dealt to so many

std::size_t worker_of(std::uint64_t packet) { return SplitMix64(packet)() % kWorkers; }
/// Every seventh packet is a late one.
std::uint64_t time_of(std::uint64_t packet) { return packet % 7 == 3 ? packet * 10 - 25 : packet * 10; }

/// An input of numbered packets: as many as there are in a turn, and fewer now and then.
struct Numbers {
  std::uint64_t next = 0, end;
  std::uint64_t first = 0, count = 0;  ///< of the last poll

  bool poll(std::size_t most) {
    first = next;
    count = std::min<std::uint64_t>(end - next, next % 5 == 0 ? most : most / 3 + 1);
    next += count;
    return count != 0;
  }
};

void decode(std::uint64_t first, std::uint64_t count, Turns::Turn& turn) {
  for (std::uint64_t i = first; i < first + count; ++i) {
    PacketFacts facts{};
    facts.hash = i;
    facts.time_ns = time_of(i);
    turn.add(facts, {.seq = static_cast<std::uint32_t>(i)}, worker_of(i));
  }
}

/// What workers make of the turns that they read for each other.
struct Seen {
  std::uint64_t packets = 0, wrong = 0, turns_begun = 0;
};

void work(Turns& turns, Numbers& numbers, std::size_t most, std::size_t worker, Seen& seen) {
  Turns::Reader reader{.worker = worker};
  std::uint64_t expected = 0;
  const auto skip_others = [&] {
    while (expected < numbers.end && worker_of(expected) != worker) ++expected;
  };
  while (!turns.is_at_end(reader)) {
    if (const Turns::Part* const part = turns.take(reader)) {
      for (std::size_t i = 0; i < part->facts().size(); ++i, ++expected, ++seen.packets) {
        skip_others();
        const std::uint64_t latest = expected % 7 == 3 ? time_of(expected - 1) : time_of(expected);
        seen.wrong += part->facts()[i].hash != expected || part->places()[i].position != expected ||
                      part->places()[i].latest_ns != latest || part->tcp()[i].seq != expected;
      }
      turns.release(reader);
      if (expected % 64 == 0) std::this_thread::yield();
      continue;
    }
    std::uint64_t first = 0, count = 0;
    const auto poll = [&] {
      const bool any = numbers.poll(most);
      first = numbers.first, count = numbers.count;
      return any;
    };
    if (Turns::Turn* const turn = turns.begin(poll, [&] { return numbers.next == numbers.end; })) {
      ++seen.turns_begun;
      decode(first, count, *turn);
      turns.publish(*turn);
    } else {
      std::this_thread::yield();
    }
  }
  seen.wrong += reader.link.position != numbers.end;
}

TEST(Turns, EachWorkerHasItsPacketsInTheOrderOfTheInputWhoeverReadThem) {
  for (const std::size_t most : {1, 16, 200}) {
    Numbers numbers{.end = 2000 * most};
    Turns turns(kWorkers, most, /*with_tcp=*/true);
    std::vector<Seen> seen(kWorkers);
    std::vector<std::thread> threads;
    for (std::size_t worker = 0; worker < kWorkers; ++worker)
      threads.emplace_back([&, worker] { work(turns, numbers, most, worker, seen[worker]); });
    for (std::thread& thread : threads) thread.join();
    std::uint64_t packets = 0;
    for (const Seen& one : seen) {
      packets += one.packets;
      EXPECT_EQ(one.wrong, 0u) << most;
    }
    EXPECT_EQ(packets, numbers.end) << most;
  }
}

/// As many turns as one thread can begin while a worker releases none.
std::uint64_t begun_ahead(Turns& turns, Numbers& numbers, Turns::Reader& ahead) {
  std::uint64_t begun = 0;
  while (Turns::Turn* const turn = turns.begin([&] { return numbers.poll(8); }, [] { return false; })) {
    decode(numbers.first, numbers.count, *turn);
    turns.publish(*turn);
    ++begun;
    while (turns.take(ahead) != nullptr) turns.release(ahead);
  }
  return begun;
}

TEST(Turns, WhoIsAheadWaitsForTheSlowestAndTakesNoTurnTwice) {
  Numbers numbers{.end = 1'000'000};
  Turns turns(kWorkers, 8, /*with_tcp=*/false);
  Turns::Reader ahead{.worker = 0}, behind{.worker = 1}, last{.worker = 2};
  EXPECT_EQ(begun_ahead(turns, numbers, ahead), 64u);
  EXPECT_EQ(ahead.next, 64u);
  EXPECT_EQ(turns.take(ahead), nullptr);  // where it would be stands the first one still
  ASSERT_NE(turns.take(behind), nullptr);
  turns.release(behind);
  EXPECT_EQ(begun_ahead(turns, numbers, ahead), 0u);
  ASSERT_NE(turns.take(last), nullptr);
  turns.release(last);
  EXPECT_EQ(begun_ahead(turns, numbers, ahead), 1u);
  EXPECT_EQ(ahead.next, 65u);
}

TEST(Turns, AfterCloseWhatHasBegunIsTakenAndNothingElse) {
  Numbers numbers{.end = 1'000'000};
  Turns turns(kWorkers, 8, /*with_tcp=*/false);
  Turns::Reader reader{.worker = 0};
  Turns::Turn* const begun = turns.begin([&] { return numbers.poll(8); }, [] { return false; });
  ASSERT_NE(begun, nullptr);
  turns.close();
  EXPECT_EQ(turns.begin([&] { return numbers.poll(8); }, [] { return false; }), nullptr);
  EXPECT_FALSE(turns.is_at_end(reader));
  EXPECT_EQ(turns.take(reader), nullptr);  // not published yet
  turns.publish(*begun);
  ASSERT_NE(turns.take(reader), nullptr);
  turns.release(reader);
  EXPECT_TRUE(turns.is_at_end(reader));
}

}  // namespace
}  // namespace parshall
