// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/tcp/segment_pool.hpp"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"

namespace parshall {
namespace {

constexpr std::size_t kPerChunk = 5;

UnackedSegment segment(std::uint32_t seq, std::uint32_t next_seq, std::uint64_t time_ns = 0) {
  const auto number = static_cast<std::uint32_t>(time_ns);
  return {.seq = seq, .next_seq = next_seq, .time_ns = time_ns, .ts_value = ~number, .retransmission = number % 3 == 0};
}

/// A list with what its sender knows of one alone.
struct List {
  UnackedSegments segments;
  std::uint32_t next_seq = 0;
  std::uint64_t next_seq_ns = 0;

  operator SegmentList() { return {segments, next_seq, next_seq_ns}; }
  void append_to(SegmentPool& pool, const UnackedSegment& one) {
    const bool is_further = static_cast<std::int32_t>(one.next_seq - next_seq) > 0;
    if (is_further && !one.retransmission) {
      pool.append_next(*this, one);
    } else {
      if (is_further) pool.detach(*this);
      pool.append(*this, one);
    }
    if (is_further) next_seq = one.next_seq, next_seq_ns = one.time_ns;
  }
};

std::vector<std::uint64_t> times_of(SegmentPool& pool, SegmentList list) {
  std::vector<std::uint64_t> times;
  pool.visit(list, [&](UnackedSegment& one) { return times.push_back(one.time_ns), true; });
  return times;
}

/// What one sender has: each segment at its place, counted since nothing was left.
struct Queue {
  struct Entry {
    std::size_t place;
    UnackedSegment segment;
  };
  std::deque<Entry> entries;
  std::size_t next_place = 0;
  bool in_chunks = false;  ///< since it had more than one, or one that does not end it

  std::size_t chunks() const {
    if (!in_chunks) return 0;
    std::set<std::size_t> used{(next_place - 1) / kPerChunk};
    for (const Entry& entry : entries) used.insert(entry.place / kPerChunk);
    return used.size();
  }
  /// One that ends behind all before, or does not; with so many chunks that nobody has. How many were not kept.
  std::uint64_t append(const UnackedSegment& one, bool is_further, std::size_t free) {
    std::uint64_t dropped = 0;
    const bool is_next = is_further && !one.retransmission;
    if (is_further && !is_next && entries.size() == 1 && !in_chunks) {
      if (free == 0) {
        ++dropped, entries.clear(), next_place = 0;
      } else {
        --free, in_chunks = true;
      }
    }
    const bool stands_alone = is_next && entries.empty();
    const bool needs_chunk = in_chunks ? next_place % kPerChunk == 0 : !stands_alone;
    if (needs_chunk && free == 0) {
      if (is_next && !in_chunks) entries = {{0, one}};
      return dropped + 1;
    }
    in_chunks = in_chunks || !stands_alone;
    entries.push_back({next_place++, one});
    return dropped;
  }
  /// Times of those that end at `ack` or before, which it has no longer.
  std::vector<std::uint64_t> acknowledge(std::uint32_t ack) {
    std::vector<std::uint64_t> removed;
    std::erase_if(entries, [&](const Entry& entry) {
      const bool acked = static_cast<std::int32_t>(entry.segment.next_seq - ack) <= 0;
      if (acked) removed.push_back(entry.segment.time_ns);
      return acked;
    });
    if (entries.empty()) next_place = 0, in_chunks = false;
    return removed;
  }
};

void expect_same(SegmentPool& pool, SegmentList of, const Queue& queue) {
  const UnackedSegments& list = of.list;
  ASSERT_EQ(list.in_chunks, queue.in_chunks);
  ASSERT_EQ(list.count, queue.entries.size());
  ASSERT_EQ(list.empty(), queue.entries.empty());
  std::vector<UnackedSegment> visited;
  pool.visit(of, [&](UnackedSegment& one) { return visited.push_back(one), visited.size() <= list.count; });
  ASSERT_EQ(visited.size(), queue.entries.size());
  for (std::size_t i = 0; i < visited.size(); ++i) {
    const UnackedSegment& expected = queue.entries[i].segment;
    ASSERT_EQ(visited[i].time_ns, expected.time_ns);
    ASSERT_EQ(visited[i].seq, expected.seq);
    ASSERT_EQ(visited[i].next_seq, expected.next_seq);
    ASSERT_EQ(visited[i].ts_value, expected.ts_value);
    ASSERT_EQ(visited[i].retransmission, expected.retransmission);
  }
}

/// Senders of one pool, and what each of them should have.
class Senders {
 public:
  /// `resends`: of hundred segments. Where there are none, each list is in order, and an acknowledgement ends early.
  Senders(std::size_t chunks, std::uint64_t resends)
      : chunks_(chunks), resends_(resends), random_(chunks + resends), pool_(chunks) {
    for (std::size_t i = 0; i < kSenders; ++i) lists_[i].next_seq = next_[i] = static_cast<std::uint32_t>(random_());
  }

  void run(std::uint64_t steps) {
    for (std::uint64_t step = 0; step < steps; ++step) {
      const std::size_t sender = random_.below(kSenders);
      const std::uint64_t what = random_.below(1000);
      const std::uint64_t appends = step / 1000 % 2 == 0 ? 960 : 400;  // it fills and empties by turns
      if (what < appends) {
        append(sender, step);
      } else if (what < 990) {
        acknowledge(sender);
      } else {
        pool_.clear(lists_[sender].segments);
        queues_[sender] = {};
      }
      expect_same(pool_, lists_[sender], queues_[sender]);
      ASSERT_EQ(pool_.dropped(), dropped_);
      if (::testing::Test::HasFatalFailure()) FAIL() << "at step " << step;
    }
    for (std::size_t sender = 0; sender < kSenders; ++sender) expect_same(pool_, lists_[sender], queues_[sender]);
  }

  /// All chunks can be used again, and no more than all.
  void fill() {
    for (List& list : lists_) pool_.clear(list.segments);
    std::vector<List> lists(chunks_ + 1);
    for (std::size_t i = 0; i < chunks_; ++i)
      for (std::uint32_t j = 0; j < kPerChunk; ++j) lists[i].append_to(pool_, segment(j, j + 1, 1));
    EXPECT_EQ(pool_.dropped(), dropped_);
    lists[chunks_].append_to(pool_, segment(1, 2, 1));
    EXPECT_EQ(pool_.dropped(), dropped_) << "one needs none";
    lists[chunks_].append_to(pool_, segment(2, 3, 2));
    EXPECT_EQ(pool_.dropped(), ++dropped_);
    EXPECT_EQ(times_of(pool_, lists[chunks_]), std::vector<std::uint64_t>{2}) << "it is the last";
    for (List& list : lists) pool_.clear(list.segments);
  }

  std::uint64_t dropped() const { return dropped_; }
  std::size_t wraps() const { return wraps_; }
  std::size_t kept_while_full() const { return kept_while_full_; }
  std::size_t holes() const { return holes_; }

 private:
  static constexpr std::size_t kSenders = 7;

  std::size_t used_chunks() const {
    std::size_t used = 0;
    for (const Queue& queue : queues_) used += queue.chunks();
    return used;
  }

  void append(std::size_t sender, std::uint64_t step) {
    std::uint32_t seq = next_[sender];
    const std::uint32_t bytes = 1 + static_cast<std::uint32_t>(random_.below(3'000'000));
    if (random_.below(100) < resends_) seq -= static_cast<std::uint32_t>(random_.below(9'000'000));
    const UnackedSegment one = segment(seq, seq + bytes, step);
    const std::size_t free = chunks_ - used_chunks();
    const bool is_further = static_cast<std::int32_t>(seq + bytes - next_[sender]) > 0;
    lists_[sender].append_to(pool_, one);
    const std::uint64_t dropped = queues_[sender].append(one, is_further, free);
    dropped_ += dropped;
    kept_while_full_ += free == 0 && dropped == 0 && queues_[sender].in_chunks;
    if (is_further) {
      wraps_ += seq + bytes < next_[sender];
      next_[sender] = seq + bytes;
    }
  }

  void acknowledge(std::size_t sender) {
    Queue& queue = queues_[sender];
    std::uint32_t ack = next_[sender] - static_cast<std::uint32_t>(random_.below(12'000'000));
    if (!queue.entries.empty() && random_.below(2) == 0)
      ack = queue.entries[random_.below(queue.entries.size())].segment.next_seq;
    std::vector<std::uint64_t> removed;
    pool_.acknowledge(lists_[sender], ack, [&](const UnackedSegment& one) { removed.push_back(one.time_ns); });
    ASSERT_EQ(removed, queue.acknowledge(ack));
    for (std::size_t i = 1; i < queue.entries.size(); ++i)
      holes_ += queue.entries[i].place != queue.entries[i - 1].place + 1;
  }

  std::size_t chunks_;
  std::uint64_t resends_;
  SplitMix64 random_;
  SegmentPool pool_;
  std::array<List, kSenders> lists_;
  std::array<Queue, kSenders> queues_;
  std::array<std::uint32_t, kSenders> next_{};
  std::uint64_t dropped_ = 0;
  std::size_t wraps_ = 0, kept_while_full_ = 0, holes_ = 0;
};

TEST(SegmentPool, KeepsWhatAQueuePerSenderWouldAndCountsWhatItHasNoRoomFor) {
  std::size_t holes = 0;
  for (const std::size_t chunks : {1u, 2u, 5u, 12u, 30u})
    for (const std::uint64_t resends : {0u, 10u, 60u}) {
      SCOPED_TRACE(std::to_string(chunks) + " chunks, " + std::to_string(resends) + " % sent again");
      Senders senders(chunks, resends);
      ASSERT_NO_FATAL_FAILURE(senders.run(60'000));
      EXPECT_GT(senders.dropped(), 100u) << "it has to be full now and then";
      EXPECT_GT(senders.kept_while_full(), 100u) << "in a chunk that its sender has";
      EXPECT_TRUE(resends != 0 || senders.holes() == 0);
      holes += senders.holes();
      EXPECT_GT(senders.wraps(), 0u);
      senders.fill();
      senders.fill();
    }
  EXPECT_GT(holes, 1000u) << "acknowledged behind others that are not";
}

TEST(SegmentPool, NoSenderHasMoreThanItsMost) {
  SegmentPool pool(SegmentPool::kMostPerSender);
  List list, other;
  for (std::uint32_t i = 0; i < SegmentPool::kMostPerSender + 5; ++i) list.append_to(pool, segment(i, i + 1, i));
  EXPECT_EQ(list.segments.count, SegmentPool::kMostPerSender);
  EXPECT_EQ(pool.dropped(), 5u);
  other.append_to(pool, segment(0, 1, 1));
  EXPECT_EQ(pool.dropped(), 5u) << "the others have room";
  EXPECT_EQ(times_of(pool, list).back(), SegmentPool::kMostPerSender - 1u) << "the first ones are kept";
}

TEST(SegmentPool, AVisitEndsWhenItIsToldTo) {
  SegmentPool pool(8);
  List list;
  for (std::uint32_t i = 0; i < 5; ++i) list.append_to(pool, segment(i, i + 1, i));
  int seen = 0;
  pool.visit(list, [&](UnackedSegment& one) { return ++seen, one.time_ns < 2; });
  EXPECT_EQ(seen, 3);
}

TEST(SegmentPool, AVisitMayMarkASegmentThatWasSentAgain) {
  SegmentPool pool(8);
  List list;
  for (std::uint32_t i = 1; i < 9; ++i) list.append_to(pool, segment(i, i + 1, 1));
  pool.visit(list, [&](UnackedSegment& one) { return one.retransmission = one.seq == 7, true; });
  std::vector<std::uint32_t> marked;
  pool.acknowledge(list, 9, [&](const UnackedSegment& one) {
    if (one.retransmission) marked.push_back(one.seq);
  });
  EXPECT_EQ(marked, std::vector<std::uint32_t>{7});
}

TEST(SegmentPool, OneAloneIsRememberedToHaveBeenSentAgain) {
  SegmentPool pool(8);
  List list;
  list.append_to(pool, segment(1, 2, 1));
  pool.visit(list, [&](UnackedSegment& one) { return one.retransmission = true, true; });
  bool retransmission = false;
  pool.acknowledge(list, 2, [&](const UnackedSegment& one) { retransmission = one.retransmission; });
  EXPECT_TRUE(retransmission);
}

TEST(SegmentPool, OneThatIsNeverAcknowledgedHoldsNoMoreThanItsChunkAndTheLast) {
  SegmentPool pool(3);
  List list;
  list.append_to(pool, segment(1u << 30, (1u << 30) + 100, 1));
  for (std::uint32_t seq = 1; seq < 100'000; seq += 100) {
    list.append_to(pool, segment(seq, seq + 100, 2));
    pool.acknowledge(list, seq + 100, [](const UnackedSegment&) {});
  }
  EXPECT_EQ(pool.dropped(), 0u);
}

}  // namespace
}  // namespace parshall
