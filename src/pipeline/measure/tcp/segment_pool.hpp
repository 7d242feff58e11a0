// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>

#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"
#include "pipeline/flow/maps/free_list.hpp"

namespace parshall {

/// A segment that nobody has acknowledged yet.
struct UnackedSegment {
  std::uint32_t seq, next_seq;
  std::uint64_t time_ns;
  std::uint32_t ts_value;  ///< RFC 7323; of segments without, 0
  bool retransmission;     ///< it, or one that overlaps it, is one
  bool acknowledged = false;
};
static_assert(sizeof(UnackedSegment) == 24);

/// Those of one sender, in the order they were sent: one alone stands here, where what its sender knows ends it; else
/// they are a list of chunks, until there is none.
struct UnackedSegments {
  struct Chunks {
    Place first, last;
  };
  struct Single {
    std::uint32_t seq, ts_value;
  };

  union {
    Chunks chunks{kNowhere, kNowhere};
    Single single;
  };
  std::uint16_t count = 0;
  bool in_chunks : 1 = false;
  bool sorted : 1 = true;  ///< none ends before one that was sent earlier
  bool plain : 1 = true;   ///< all were sent once, none at an earlier time, and the last one's are next_seq and
                           ///< next_seq_ns: a single one's are at any rate

  bool empty() const noexcept { return count == 0; }
  bool is_single() const noexcept { return count != 0 && !in_chunks; }
};
static_assert(sizeof(UnackedSegments) == 12);

/// The same, with the end and the time of one that is in no chunk: its sender's next_seq and next_seq_ns.
struct SegmentList {
  UnackedSegments& list;
  std::uint32_t next_seq;
  std::uint64_t next_seq_ns;

  UnackedSegment single() const noexcept {
    return {.seq = list.single.seq,
            .next_seq = next_seq,
            .time_ns = next_seq_ns,
            .ts_value = list.single.ts_value,
            .retransmission = !list.plain};
  }
};

/// The segments of all connections, in memory of a fixed size.
///
/// Shape: chunks of 128 bytes, for five segments of one sender, and 4 of the list of free ones.
/// Full:  a segment is not kept, and counted: it gives no round-trip time, and when it comes again soon it may be taken
///        for one that is out of order.
class SegmentPool {
 public:
  static constexpr std::uint16_t kMostPerSender = 256;

  explicit SegmentPool(std::size_t chunks) : chunks_(chunks), free_(chunks) {}

  void populate() noexcept { chunks_.populate(); }
  static std::size_t memory_bytes(std::size_t chunks) noexcept { return chunks * (sizeof(Chunk) + sizeof(Place)); }

  /// Of a list that is about to be appended to, and of one that is about to be acknowledged.
  void prefetch(const UnackedSegments& sent, const UnackedSegments& acknowledged) const noexcept {
    if (sent.in_chunks) [[unlikely]]
      prefetch_object<sizeof(Chunk)>(&chunks_[sent.chunks.last]);
    if (acknowledged.in_chunks) [[unlikely]]
      prefetch_object<sizeof(Chunk)>(&chunks_[acknowledged.chunks.first]);
  }

  /// One that its sender's next_seq and next_seq_ns will be of: `to` has what they were before. Of two that need a
  /// chunk where there is none, it is the one that is kept.
  void append_next(SegmentList to, const UnackedSegment& segment) noexcept {
    if (!to.list.empty()) return append_next_to_chunk(to, segment);
    begin(to.list, segment);
  }

  /// Another.
  [[gnu::noinline]] void append(SegmentList to, const UnackedSegment& segment) noexcept {
    append_to_chunk(to, segment);
    if (to.list.in_chunks) to.list.plain = false;
  }

  /// Before the sender's next_seq is of something else.
  void detach(SegmentList from) noexcept {
    if (from.list.is_single() && !make_room(from)) {
      ++dropped_;
      clear(from.list);
    }
    if (!from.list.empty()) from.list.plain = false;
  }

  /// Hands each segment, the oldest first, to `visit`, which returns whether to go on.
  template <class Visit>
  void visit(SegmentList in, Visit visit) noexcept {
    const UnackedSegments& list = in.list;
    if (!list.in_chunks) {
      if (list.empty()) return;
      UnackedSegment segment = in.single();
      visit(segment);
      in.list.plain = !segment.retransmission;
      return;
    }
    for (Place place = list.chunks.first; place != kNowhere; place = chunks_[place].next)
      for (std::size_t i = chunks_[place].begin; i != chunks_[place].end; ++i)
        if (UnackedSegment& segment = chunks_[place].segments[i]; !segment.acknowledged && !visit(segment)) return;
  }

  /// Removes those that end at `ack` or before, after `removed` has seen them, the oldest first.
  template <class Removed>
  void acknowledge(SegmentList in, std::uint32_t ack, Removed removed) noexcept {
    if (in.list.in_chunks) return acknowledge_in_chunks(in.list, ack, removed);
    if (in.list.empty() || static_cast<std::int32_t>(in.next_seq - ack) > 0) return;
    removed(in.single());
    in.list = {};
  }

  void clear(UnackedSegments& list) noexcept {
    if (list.in_chunks) [[unlikely]]
      give_chunks_back(list);
    list = {};
  }

  std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  struct alignas(64) Chunk {
    static constexpr std::size_t kSegments = 5;

    Place next;
    std::uint8_t begin, end;  ///< of those in use
    std::array<UnackedSegment, kSegments> segments;
  };
  static_assert(sizeof(Chunk) == 128);

  static void begin(UnackedSegments& list, const UnackedSegment& segment) noexcept {
    list = {};
    list.single = {segment.seq, segment.ts_value};
    list.count = 1;
  }

  [[gnu::noinline]] void append_next_to_chunk(SegmentList to, const UnackedSegment& segment) noexcept {
    UnackedSegments& list = to.list;
    const bool is_kept = append_to_chunk(to, segment);
    if (!is_kept && !list.in_chunks) return begin(list, segment);
    list.plain = list.plain && is_kept && to.next_seq_ns <= segment.time_ns;
  }

  /// Whether there was room for it.
  bool append_to_chunk(SegmentList to, const UnackedSegment& segment) noexcept {
    UnackedSegments& list = to.list;
    const std::uint32_t end = list.in_chunks ? last_end(list) : list.empty() ? segment.next_seq : to.next_seq;
    if (list.count == kMostPerSender || !make_room(to)) return ++dropped_, false;
    Chunk& chunk = chunks_[list.chunks.last];
    list.sorted = list.sorted && static_cast<std::int32_t>(segment.next_seq - end) >= 0;
    chunk.segments[chunk.end++] = segment;
    ++list.count;
    return true;
  }

  template <class Removed>
  [[gnu::noinline]] void acknowledge_in_chunks(UnackedSegments& list, std::uint32_t ack, Removed& removed) noexcept {
    Place before = kNowhere;
    for (Place place = list.chunks.first; place != kNowhere;) {
      Chunk& chunk = chunks_[place];
      const Place next = chunk.next;
      const bool go_on = acknowledge_in(chunk, list, ack, removed);
      if (chunk.begin == chunk.end && place != list.chunks.last)
        unlink(list, before, place);
      else
        before = place;
      if (!go_on) break;
      place = next;
    }
    if (list.empty()) clear(list);
  }

  /// Of the segment sent last, acknowledged or not.
  std::uint32_t last_end(const UnackedSegments& list) const noexcept {
    const Chunk& chunk = chunks_[list.chunks.last];
    return chunk.segments[chunk.end - 1].next_seq;
  }

  /// Whether the last chunk has a free place. What was single is in a chunk then.
  bool make_room(SegmentList to) noexcept {
    UnackedSegments& list = to.list;
    if (list.in_chunks && chunks_[list.chunks.last].end != Chunk::kSegments) return true;
    const Place place = free_.take();
    if (place == kNowhere) return false;
    Chunk& chunk = chunks_[place];
    chunk.next = kNowhere;
    chunk.begin = chunk.end = 0;
    if (list.in_chunks) {
      chunks_[list.chunks.last].next = place;
      list.chunks.last = place;
      return true;
    }
    if (!list.empty()) chunk.segments[chunk.end++] = to.single();
    list.chunks = {place, place};
    list.in_chunks = true;
    return true;
  }

  /// False where what follows ends behind `ack` too.
  template <class Removed>
  bool acknowledge_in(Chunk& chunk, UnackedSegments& list, std::uint32_t ack, Removed& removed) noexcept {
    bool go_on = true;
    for (std::size_t i = chunk.begin; i != chunk.end && go_on; ++i) {
      UnackedSegment& segment = chunk.segments[i];
      if (segment.acknowledged) continue;
      if (static_cast<std::int32_t>(segment.next_seq - ack) > 0) {
        go_on = !list.sorted;
        continue;
      }
      removed(segment);
      segment.acknowledged = true;
      --list.count;
    }
    while (chunk.begin != chunk.end && chunk.segments[chunk.begin].acknowledged) ++chunk.begin;
    return go_on;
  }

  /// Of a chunk that is not the last.
  void unlink(UnackedSegments& list, Place before, Place place) noexcept {
    (before == kNowhere ? list.chunks.first : chunks_[before].next) = chunks_[place].next;
    free_.give_back(place);
  }

  [[gnu::noinline]] void give_chunks_back(const UnackedSegments& list) noexcept {
    for (Place place = list.chunks.first; place != kNowhere;) {
      const Place next = chunks_[place].next;
      free_.give_back(place);
      place = next;
    }
  }

  HugeBuffer<Chunk> chunks_;
  FreeList free_;
  std::uint64_t dropped_ = 0;
};

}  // namespace parshall
