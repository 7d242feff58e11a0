// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>

#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"
#include "pipeline/flow/maps/free_list.hpp"

namespace parshall {

/// A segment that is not acknowledged yet.
struct UnackedSegment {
  std::uint32_t seq, next_seq;
  std::uint64_t time_ns;
  std::uint32_t ts_value;  ///< RFC 7323; 0 in segments without time stamps
  bool retransmission;     ///< true if it, or one that overlaps it, is a retransmission
  bool acknowledged = false;
};
static_assert(sizeof(UnackedSegment) == 24);

/// Unacknowledged segments of one sender, in the order they were sent. A single one that ends at the sender's next_seq
/// is stored here. Otherwise they are a list of chunks until the list is empty.
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
  bool plain : 1 = true;   ///< all were sent once, at non-decreasing times, and the last one ends at next_seq and
                           ///< next_seq_ns (a single one always does)

  bool empty() const noexcept { return count == 0; }
  bool is_single() const noexcept { return count != 0 && !in_chunks; }
};
static_assert(sizeof(UnackedSegments) == 12);

/// A sender's list with its next_seq and next_seq_ns, which complete a segment that is in no chunk.
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

/// Segments of all connections, in memory of a fixed size.
///
/// Shape: chunks of 128 bytes, for five segments of one sender, and 4 of the list of free ones.
/// Full:  a segment is not stored, but counted. It gives no round-trip time, and if it is sent again soon behind a
///        gap, it may be taken for a segment out of order.
class SegmentPool {
 public:
  static constexpr std::uint16_t kMostPerSender = 256;

  explicit SegmentPool(std::size_t chunks) : chunks_(chunks), free_(chunks) {}

  void populate() noexcept {
    chunks_.populate();
    free_.populate();
  }
  static std::size_t memory_bytes(std::size_t chunks) noexcept { return chunks * (sizeof(Chunk) + sizeof(Place)); }

  void prefetch(Place chunk) const noexcept { prefetch_line(&chunks_[chunk]); }

  /// Appends a segment that will define its sender's next_seq and next_seq_ns; `to` has their previous values. If two
  /// segments need a chunk and there is none, this one is kept.
  [[gnu::always_inline]] void append_next(const SegmentList& to, const UnackedSegment& segment) noexcept {
    if (!to.list.empty()) return append_next_to_chunk(to, segment);
    begin(to.list, segment);
  }

  /// Appends any other segment.
  [[gnu::noinline]] void append(const SegmentList& to, const UnackedSegment& segment) noexcept {
    append_to_chunk(to, segment);
    if (to.list.in_chunks) to.list.plain = false;
  }

  /// Prepares for a change of the sender's next_seq that comes from another packet.
  void detach(SegmentList from) noexcept {
    if (from.list.is_single() && !make_room(from)) {
      ++dropped_;
      clear(from.list);
    }
    if (!from.list.empty()) from.list.plain = false;
  }

  /// Passes each segment, the oldest first, to `visit`, which returns whether to continue.
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

  /// Removes segments that end at `ack` or before, the oldest first, passing each to `removed`.
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
    std::uint8_t begin, end;  ///< range of those in use
    std::array<UnackedSegment, kSegments> segments;
  };
  static_assert(sizeof(Chunk) == 128);

  static void begin(UnackedSegments& list, const UnackedSegment& segment) noexcept {
    list = {};
    list.single = {segment.seq, segment.ts_value};
    list.count = 1;
  }

  [[gnu::always_inline]] void append_next_to_chunk(const SegmentList& to, const UnackedSegment& segment) noexcept {
    UnackedSegments& list = to.list;
    const bool is_kept = append_to_chunk(to, segment);
    if (!is_kept && !list.in_chunks) return begin(list, segment);
    list.plain = list.plain && is_kept && to.next_seq_ns <= segment.time_ns;
  }

  /// Appends to the last chunk. Returns false if there was no room. Inline, so that the segment's fields are stored
  /// once: a copy as a whole would read recent partial stores, and stall.
  [[gnu::always_inline]] bool append_to_chunk(const SegmentList& to, const UnackedSegment& segment) noexcept {
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

  /// Returns the end of the segment sent last, acknowledged or not.
  std::uint32_t last_end(const UnackedSegments& list) const noexcept {
    const Chunk& chunk = chunks_[list.chunks.last];
    return chunk.segments[chunk.end - 1].next_seq;
  }

  /// Ensures that the last chunk has a free place. Returns false if there is none.
  bool make_room(const SegmentList& to) noexcept {
    return (to.list.in_chunks && chunks_[to.list.chunks.last].end != Chunk::kSegments) || add_chunk(to);
  }

  /// Adds an empty chunk, and moves a single segment into it. Returns false if there is none.
  [[gnu::noinline]] bool add_chunk(const SegmentList& to) noexcept {
    UnackedSegments& list = to.list;
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

  /// Returns false if the following chunks end behind `ack` too.
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

  /// Removes a chunk that is not the last.
  void unlink(UnackedSegments& list, Place before, Place place) noexcept {
    (before == kNowhere ? list.chunks.first : chunks_[before].next) = chunks_[place].next;
    free_.give_back(place);
  }

  void give_chunks_back(const UnackedSegments& list) noexcept {
    if (list.chunks.first == list.chunks.last) return free_.give_back(list.chunks.first);  // without touching it
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
