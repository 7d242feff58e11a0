// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <malloc.h>

#include <chrono>
#include <cstring>
#include <deque>
#include <thread>
#include <vector>

#include "../resident_bytes.hpp"
#include "base/random.hpp"
#include "base/record_ring.hpp"
#include "base/spsc_ring.hpp"

namespace parshall {
namespace {

std::span<const std::byte> bytes_of(const std::vector<std::uint8_t>& bytes) { return std::as_bytes(std::span(bytes)); }

/// A record whose length and contents follow from its number.
std::vector<std::uint8_t> record_of(std::uint64_t number, std::size_t longest) {
  SplitMix64 random(number);
  std::vector<std::uint8_t> record(8 + random.below(longest - 7));
  std::memcpy(record.data(), &number, sizeof number);
  for (std::size_t i = 8; i < record.size(); ++i) record[i] = static_cast<std::uint8_t>(number * 31 + i);
  return record;
}

TEST(SpscRing, CapacityIsRoundedUpToAPowerOfTwo) {
  EXPECT_EQ(SpscRing<int>(0).capacity(), 2u);
  EXPECT_EQ(SpscRing<int>(3).capacity(), 4u);
  EXPECT_EQ(SpscRing<int>(64).capacity(), 64u);
  EXPECT_EQ(SpscRing<int>(65).capacity(), 128u);
}

TEST(SpscRing, TakesItsWholeCapacityAndThenNoMore) {
  SpscRing<int> ring(4);
  for (int i = 0; i < 4; ++i) {
    int* const place = ring.stage();
    ASSERT_NE(place, nullptr);
    *place = i;
  }
  EXPECT_EQ(ring.stage(), nullptr);
  EXPECT_TRUE(ring.readable(4).empty()) << "staged items must stay unseen until flushed";
  ring.flush();
  EXPECT_EQ(ring.stage(), nullptr);
  ASSERT_EQ(ring.readable(4).size(), 4u);
  ring.release(1);
  EXPECT_NE(ring.stage(), nullptr);
  EXPECT_EQ(ring.stage(), nullptr);
}

TEST(SpscRing, SpansEndWhereTheRingWraps) {
  SpscRing<int> ring(8);
  ring.publish(ring.writable(6).size());
  EXPECT_EQ(ring.readable(8).size(), 6u);
  ring.release(6);
  const auto room = ring.writable(8);
  EXPECT_EQ(room.size(), 2u);
  EXPECT_TRUE(ring.at_end(room));
  ring.publish(2);
  const auto rest = ring.writable(8);
  EXPECT_EQ(rest.size(), 6u);
  EXPECT_FALSE(ring.at_end(rest));
}

TEST(SpscRing, ItemsStagedAcrossTheWrapComeOutInOrder) {
  SpscRing<int> ring(8);
  int in = 0, out = 0;
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 1 + round % 8; ++i) {
      int* const place = ring.stage();
      ASSERT_NE(place, nullptr);
      *place = in++;
    }
    ring.flush();
    for (auto items = ring.readable(8); !items.empty(); items = ring.readable(8)) {
      for (const int item : items) ASSERT_EQ(item, out++);
      ring.release(items.size());
    }
  }
  EXPECT_EQ(in, out);
}

TEST(SpscRing, TwoThreadsPassEveryItemOnceAndInOrder) {
  constexpr std::uint64_t kItems = 1'000'000;
  SpscRing<std::uint64_t> ring(256);
  std::thread writer([&ring] {
    SplitMix64 random(1);
    for (std::uint64_t next = 0; next < kItems;) {
      const std::uint64_t burst = 1 + random.below(40), before = next;
      for (std::uint64_t i = 0; i < burst && next < kItems; ++i) {
        std::uint64_t* const place = ring.stage();
        if (place == nullptr) break;
        *place = next++;
      }
      ring.flush();
      if (next == before) std::this_thread::yield();
    }
  });
  SplitMix64 random(2);
  std::uint64_t expected = 0, wrong = 0;
  while (expected < kItems) {
    const auto items = ring.readable(1 + random.below(100));
    for (const std::uint64_t item : items) wrong += item != expected++;
    ring.release(items.size());
    if (items.empty()) std::this_thread::yield();
  }
  writer.join();
  EXPECT_EQ(wrong, 0u);
}

TEST(RecordRing, RecordsOfEveryLengthComeOutAsTheyWentIn) {
  RecordRing ring(256);
  std::deque<std::vector<std::uint8_t>> waiting;
  SplitMix64 random(3);
  std::uint64_t pushed = 0, refused = 0;
  const auto take = [&waiting](std::span<const std::byte> bytes) {
    ASSERT_FALSE(waiting.empty());
    ASSERT_EQ(bytes.size(), waiting.front().size());
    EXPECT_EQ(std::memcmp(bytes.data(), waiting.front().data(), bytes.size()), 0);
    waiting.pop_front();
  };
  for (std::uint64_t number = 0; number < 20'000; ++number) {
    const auto record = record_of(number, 120);
    const std::size_t split = random.below(record.size() + 1);
    if (ring.push(bytes_of(record).first(split), bytes_of(record).subspan(split))) {
      waiting.push_back(record);
      ++pushed;
    } else {
      ++refused;
    }
    if (random.below(4) == 0) {
      const std::size_t before = waiting.size();
      ASSERT_EQ(ring.drain(take), before);
    }
  }
  ring.drain(take);
  EXPECT_TRUE(waiting.empty());
  EXPECT_GT(pushed, 10'000u);
  EXPECT_GT(refused, 100u) << "the ring was never full";
}

TEST(RecordRing, ARecordThatJustFitsGoesInWhereverTheRingStands) {
  for (std::size_t lead = 1; lead < 30; ++lead) {
    RecordRing ring(256);
    for (std::size_t i = 0; i < lead; ++i) {
      ASSERT_TRUE(ring.push(bytes_of(std::vector<std::uint8_t>(16, 1)), {}));
      ring.drain([](auto) {});
    }
    const std::vector<std::uint8_t> most(248, 7);
    bool in = false;
    for (int attempt = 0; attempt < 3 && !in; ++attempt) {
      in = ring.push(bytes_of(most), {});
      if (!in) ring.drain([](auto) { FAIL() << "only filler was in the ring"; });
    }
    ASSERT_TRUE(in) << "after " << lead << " records";
    EXPECT_EQ(ring.drain([](std::span<const std::byte> record) { EXPECT_EQ(record.size(), 248u); }), 1u);
  }
}

TEST(RecordRing, ARecordThatNeverFitsIsRefusedAndHarmsNothing) {
  RecordRing ring(64);
  EXPECT_FALSE(ring.push(bytes_of(std::vector<std::uint8_t>(57)), {}));
  ring.drain([](auto) { FAIL(); });
  EXPECT_TRUE(ring.push(bytes_of(std::vector<std::uint8_t>(56, 9)), {}));
  EXPECT_EQ(ring.drain([](std::span<const std::byte> record) { EXPECT_EQ(record.size(), 56u); }), 1u);
}

TEST(RecordRing, TwoThreadsPassEveryRecordOnceAndInOrder) {
  constexpr std::uint64_t kRecords = 100'000;
  RecordRing ring(4096);
  std::thread writer([&ring] {
    for (std::uint64_t number = 0; number < kRecords; ++number) {
      const auto record = record_of(number, 300);
      while (!ring.push(bytes_of(record), {})) std::this_thread::yield();
    }
  });
  std::uint64_t expected = 0, wrong = 0;
  while (expected < kRecords) {
    const std::size_t got = ring.drain([&](std::span<const std::byte> bytes) {
      const auto record = record_of(expected++, 300);
      wrong += bytes.size() != record.size() || std::memcmp(bytes.data(), record.data(), record.size()) != 0;
    });
    if (got == 0) std::this_thread::yield();
  }
  writer.join();
  EXPECT_EQ(wrong, 0u);
}

TEST(RecordRing, OfALargeOneThatIsEmptiedAgainAndAgainOnlyTheStartIsTouched) {
  constexpr std::size_t kRing = std::size_t{8} << 20, kWarm = 64 << 10;
  RecordRing ring(kRing);
  const std::byte* const first = ring.reserve(1000);
  ring.publish();
  ring.drain([](auto) {});
  std::ptrdiff_t furthest = 0;
  for (int i = 0; i < 30'000; ++i) {
    const std::byte* const place = ring.reserve(1000);
    ASSERT_NE(place, nullptr);
    furthest = std::max(furthest, place - first);
    ring.publish();
    if (i % 10 == 0) ring.drain([](auto) {});
  }
  EXPECT_LT(furthest, static_cast<std::ptrdiff_t>(kWarm + 12 * 1000));
}

TEST(RecordRing, OneThatBeganAgainHasRoomForAllThatItEverHad) {
  RecordRing ring(std::size_t{1} << 20);
  const std::vector<std::uint8_t> record(1016);
  for (int i = 0; i < 100; ++i) ring.push(bytes_of(record), {});
  ring.drain([](auto) {});
  int taken = 0;
  while (ring.push(bytes_of(record), {})) ++taken;
  EXPECT_EQ(taken, 1024);
  EXPECT_EQ(ring.drain([](auto) {}), 1024u);
}

/// Some who run tests have malloc write to all that it gives.
void have_malloc_touch_nothing() { ::mallopt(M_PERTURB, 0); }

TEST(RecordRing, OneThatGivesBackHasNoMoreMemoryThanWhatWaits) {
  if (kSanitized) GTEST_SKIP() << "resident memory is not the program's own under a sanitizer";
  have_malloc_touch_nothing();
  constexpr std::uint64_t kMebibyte = 1 << 20;
  const std::vector<std::uint8_t> record(1016);
  for (const bool gives_back : {false, true}) {
    RecordRing ring(64 * kMebibyte, gives_back);
    const std::uint64_t before = resident_bytes();
    for (std::uint64_t i = 0; i < 40 * kMebibyte / 1024; ++i) ring.push(bytes_of(record), {});
    EXPECT_GT(resident_bytes(), before + 39 * kMebibyte);
    EXPECT_EQ(ring.drain([](auto) {}), 40 * kMebibyte / 1024);
    if (gives_back)
      EXPECT_LT(resident_bytes(), before + 2 * kMebibyte);
    else
      EXPECT_GT(resident_bytes(), before + 39 * kMebibyte);
  }
}

TEST(RecordRing, OneThatGivesBackDoesSoWhereItIsNeverEmpty) {
  if (kSanitized) GTEST_SKIP() << "resident memory is not the program's own under a sanitizer";
  have_malloc_touch_nothing();
  constexpr std::uint64_t kMebibyte = 1 << 20, kAtATime = 256;
  const std::vector<std::uint8_t> record(1016);
  for (const bool gives_back : {false, true}) {
    RecordRing ring(64 * kMebibyte, gives_back);
    const std::uint64_t before = resident_bytes();
    for (std::uint64_t i = 0; i < kAtATime; ++i) ring.push(bytes_of(record), {});
    for (std::uint64_t i = 0; i < 48 * kMebibyte / (1024 * kAtATime); ++i)
      ASSERT_EQ(ring.drain_some([&](auto) { ring.push(bytes_of(record), {}); }), kAtATime);
    if (gives_back)
      EXPECT_LT(resident_bytes(), before + 3 * kMebibyte);
    else
      EXPECT_GT(resident_bytes(), before + 47 * kMebibyte);
  }
}

/// What waits, and what the writer has written over what was taken, stays, wherever in a page a part begins.
TEST(RecordRing, OneThatGivesBackKeepsWhatWaitsWhereItWraps) {
  RecordRing ring(std::size_t{4} << 20, true);
  std::uint64_t written = 0, taken = 0, wrong = 0;
  const auto push = [&] {
    const auto record = record_of(written, 300);
    const bool pushed = ring.push(bytes_of(record), {});
    written += pushed;
    return pushed;
  };
  const auto take = [&](std::span<const std::byte> bytes) {
    const auto record = record_of(taken++, 300);
    wrong += bytes.size() != record.size() || std::memcmp(bytes.data(), record.data(), record.size()) != 0;
  };
  const auto take_and_fill = [&](std::span<const std::byte> bytes) {
    take(bytes);
    push();
  };
  for (std::uint64_t round = 0; round < 12; ++round) {
    for (int i = 0; i < 7; ++i) push();
    const std::uint64_t enough = written + 9000 + 1000 * round;
    while (written < enough) ring.drain_some(take_and_fill);  // never empty, to somewhere behind the first MB
    while (push()) {
    }
    ring.drain(take);  // of a ring that is full
  }
  EXPECT_EQ(taken, written);
  EXPECT_EQ(wrong, 0u);
}

class TwoThreads : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(RecordRing, TwoThreads, ::testing::Bool());

TEST_P(TwoThreads, PassEveryRecordWhileTheRingBeginsAgain) {
  constexpr std::uint64_t kRecords = 200'000;
  RecordRing ring(std::size_t{1} << (GetParam() ? 23 : 18), GetParam());
  std::thread writer([&ring] {
    SplitMix64 random(5);
    for (std::uint64_t number = 0; number < kRecords; ++number) {
      const auto record = record_of(number, 300);
      while (!ring.push(bytes_of(record), {})) std::this_thread::yield();
      if (random.below(500) == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  });
  if (GetParam()) std::this_thread::sleep_for(std::chrono::milliseconds(20));  // much waits
  std::uint64_t expected = 0, wrong = 0;
  while (expected < kRecords) {
    const std::size_t got = ring.drain_some([&](std::span<const std::byte> bytes) {
      const auto record = record_of(expected++, 300);
      wrong += bytes.size() != record.size() || std::memcmp(bytes.data(), record.data(), record.size()) != 0;
    });
    if (got == 0) std::this_thread::yield();
  }
  writer.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace parshall
