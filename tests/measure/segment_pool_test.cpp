// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/tcp/segment_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "base/random.hpp"

namespace parshall {
namespace {

UnackedSegment segment(std::uint32_t seq, std::uint32_t next_seq, std::uint64_t time_ns = 0) {
  return {.seq = seq, .next_seq = next_seq, .time_ns = time_ns, .next = 0};
}

std::vector<std::uint64_t> times_of(SegmentPool& pool, const UnackedSegments& list) {
  std::vector<std::uint64_t> times;
  pool.visit(list, [&](UnackedSegment& one) { return times.push_back(one.time_ns), true; });
  return times;
}

TEST(SegmentPool, KeepsWhatAQueuePerSenderWouldAndCountsWhatItHasNoRoomFor) {
  constexpr std::size_t kSenders = 7;
  for (const std::size_t places : {1u, 5u, 40u, 120u}) {
    SplitMix64 random(places);
    SegmentPool pool(places);
    std::vector<UnackedSegments> lists(kSenders);
    std::vector<std::deque<UnackedSegment>> model(kSenders);
    std::vector<std::uint32_t> next(kSenders);
    for (std::uint32_t& first : next) first = static_cast<std::uint32_t>(random());
    std::size_t kept = 0, wraps = 0;
    std::uint64_t dropped = 0;
    const auto is_acked = [](const UnackedSegment& one, std::uint32_t ack) {
      return static_cast<std::int32_t>(one.next_seq - ack) <= 0;
    };
    for (std::uint64_t step = 0; step < 100'000; ++step) {
      const std::size_t sender = random.below(kSenders);
      UnackedSegments& list = lists[sender];
      std::deque<UnackedSegment>& queue = model[sender];
      const std::uint64_t what = random.below(1000);
      const std::uint64_t appends = step / 1000 % 2 == 0 ? 960 : 400;  // it fills and empties by turns
      if (what < appends) {
        std::uint32_t seq = next[sender], bytes = 1 + static_cast<std::uint32_t>(random.below(3'000'000));
        if (random.below(10) == 0) seq -= static_cast<std::uint32_t>(random.below(9'000'000));  // sent again
        pool.append(list, segment(seq, seq + bytes, step));
        if (kept == places)
          ++dropped;
        else
          queue.push_back(segment(seq, seq + bytes, step)), ++kept;
        if (static_cast<std::int32_t>(seq + bytes - next[sender]) > 0) {
          wraps += seq + bytes < next[sender];
          next[sender] = seq + bytes;
        }
      } else if (what < 990) {
        std::uint32_t ack = next[sender] - static_cast<std::uint32_t>(random.below(12'000'000));
        if (!queue.empty() && random.below(2) == 0) ack = queue[random.below(queue.size())].next_seq;
        std::vector<std::uint64_t> removed, expected;
        pool.acknowledge(
            list, ack, [&](const UnackedSegment& one) { removed.push_back(one.time_ns); },
            [&](UnackedSegment& one) { ASSERT_FALSE(is_acked(one, ack)); });
        for (const UnackedSegment& one : queue)
          if (is_acked(one, ack)) expected.push_back(one.time_ns);
        std::erase_if(queue, [&](const UnackedSegment& one) { return is_acked(one, ack); });
        kept -= expected.size();
        ASSERT_EQ(removed, expected) << "at step " << step;
      } else {
        pool.clear(list);
        kept -= queue.size();
        queue.clear();
      }
      ASSERT_EQ(list.count, queue.size()) << "at step " << step;
      ASSERT_EQ(list.empty(), queue.empty());
      std::vector<std::uint64_t> expected;
      for (const UnackedSegment& one : queue) expected.push_back(one.time_ns);
      ASSERT_EQ(times_of(pool, list), expected) << "at step " << step;
      ASSERT_EQ(pool.dropped(), dropped) << "at step " << step;
    }
    EXPECT_GT(dropped, 100u) << "it has to be full now and then";
    EXPECT_GT(wraps, 0u);

    for (UnackedSegments& list : lists) pool.clear(list);
    for (std::size_t i = 0; i < places; ++i) pool.append(lists[i % kSenders], segment(1, 2));
    EXPECT_EQ(pool.dropped(), dropped) << "all places can be used again";
    pool.append(lists[0], segment(1, 2));
    EXPECT_EQ(pool.dropped(), dropped + 1) << "and no more than all";
  }
}

TEST(SegmentPool, NoSenderHasMoreThanItsMost) {
  SegmentPool pool(3 * SegmentPool::kMostPerSender);
  UnackedSegments list, other;
  for (std::uint32_t i = 0; i < SegmentPool::kMostPerSender + 5; ++i) pool.append(list, segment(i, i + 1, i));
  EXPECT_EQ(list.count, SegmentPool::kMostPerSender);
  EXPECT_EQ(pool.dropped(), 5u);
  pool.append(other, segment(0, 1));
  EXPECT_EQ(pool.dropped(), 5u) << "the others have room";
  EXPECT_EQ(times_of(pool, list).back(), SegmentPool::kMostPerSender - 1u) << "the first ones are kept";
}

TEST(SegmentPool, AVisitEndsWhenItIsToldTo) {
  SegmentPool pool(8);
  UnackedSegments list;
  for (std::uint32_t i = 0; i < 5; ++i) pool.append(list, segment(i, i + 1, i));
  int seen = 0;
  pool.visit(list, [&](UnackedSegment& one) { return ++seen, one.time_ns < 2; });
  EXPECT_EQ(seen, 3);
}

TEST(SegmentPool, AnAcknowledgementShowsWhatItKeepsUpToTheFirstThatBeginsBehindIt) {
  SegmentPool pool(8);
  UnackedSegments list;
  pool.append(list, segment(1, 101, 1));
  pool.append(list, segment(101, 601, 2));
  pool.append(list, segment(401, 901, 3));  // overlaps the one before it
  pool.append(list, segment(901, 1001, 4));
  std::vector<std::uint64_t> kept;
  pool.acknowledge(
      list, 500, [](const UnackedSegment&) {}, [&](UnackedSegment& one) { kept.push_back(one.time_ns); });
  ASSERT_GE(kept.size(), 2u);
  EXPECT_EQ(kept[0], 2u);
  EXPECT_EQ(kept[1], 3u);
}

}  // namespace
}  // namespace parshall
