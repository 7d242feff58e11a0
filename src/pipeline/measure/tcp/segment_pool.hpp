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

/// Those of one sender, in the order they were sent: a list of chunks once there were two of them, until there is none.
struct UnackedSegments {
  Place first = kNowhere, last = kNowhere;  ///< chunks
  std::uint16_t count = 0;
  bool sorted = true;  ///< none ends before one that was sent earlier
  bool plain = true;   ///< all were sent once, none at an earlier time, and the last one's are next_seq and next_seq_ns

  bool empty() const noexcept { return count == 0; }
  bool in_chunks() const noexcept { return first != kNowhere; }
};

/// The same, with the place of one that is not in a chunk.
struct SegmentList {
  UnackedSegments& list;
  UnackedSegment& single;
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
    if (sent.in_chunks()) [[unlikely]]
      prefetch_object<sizeof(Chunk)>(&chunks_[sent.last]);
    if (acknowledged.in_chunks()) [[unlikely]]
      prefetch_object<sizeof(Chunk)>(&chunks_[acknowledged.first]);
  }

  void append(SegmentList to, const UnackedSegment& segment) noexcept {
    if (!to.list.empty()) return append_to_chunk(to, segment);
    to.single = segment;
    to.list.count = 1;
  }

  /// Hands each segment, the oldest first, to `visit`, which returns whether to go on.
  template <class Visit>
  void visit(SegmentList in, Visit visit) noexcept {
    const UnackedSegments& list = in.list;
    if (!list.in_chunks()) {
      if (!list.empty()) visit(in.single);
      return;
    }
    for (Place place = list.first; place != kNowhere; place = chunks_[place].next)
      for (std::size_t i = chunks_[place].begin; i != chunks_[place].end; ++i)
        if (UnackedSegment& segment = chunks_[place].segments[i]; !segment.acknowledged && !visit(segment)) return;
  }

  /// Removes those that end at `ack` or before, after `removed` has seen them, the oldest first.
  template <class Removed>
  void acknowledge(SegmentList in, std::uint32_t ack, Removed removed) noexcept {
    if (in.list.in_chunks()) return acknowledge_in_chunks(in.list, ack, removed);
    if (in.list.empty() || static_cast<std::int32_t>(in.single.next_seq - ack) > 0) return;
    removed(in.single);
    in.list.count = 0;
    in.list.plain = true;
  }

  void clear(UnackedSegments& list) noexcept {
    while (list.first != kNowhere) [[unlikely]] drop_first_chunk(list);
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

  [[gnu::noinline]] void append_to_chunk(SegmentList to, const UnackedSegment& segment) noexcept {
    UnackedSegments& list = to.list;
    const bool in_chunks = list.in_chunks();
    const std::uint32_t end = in_chunks ? last_end(list) : to.single.next_seq;
    if (list.count == kMostPerSender || !make_room(list)) {
      ++dropped_;
      list.plain = false;
      return;
    }
    Chunk& chunk = chunks_[list.last];
    if (!in_chunks) chunk.segments[chunk.end++] = to.single;
    list.sorted = list.sorted && static_cast<std::int32_t>(segment.next_seq - end) >= 0;
    chunk.segments[chunk.end++] = segment;
    ++list.count;
  }

  template <class Removed>
  [[gnu::noinline]] void acknowledge_in_chunks(UnackedSegments& list, std::uint32_t ack, Removed& removed) noexcept {
    Place before = kNowhere;
    for (Place place = list.first; place != kNowhere;) {
      Chunk& chunk = chunks_[place];
      const Place next = chunk.next;
      const bool go_on = acknowledge_in(chunk, list, ack, removed);
      if (chunk.begin == chunk.end && place != list.last)
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
    const Chunk& chunk = chunks_[list.last];
    return chunk.segments[chunk.end - 1].next_seq;
  }

  /// Whether the last chunk has a free place.
  bool make_room(UnackedSegments& list) noexcept {
    if (list.last != kNowhere && chunks_[list.last].end != Chunk::kSegments) return true;
    const Place place = free_.take();
    if (place == kNowhere) return false;
    chunks_[place].next = kNowhere;
    chunks_[place].begin = chunks_[place].end = 0;
    (list.last == kNowhere ? list.first : chunks_[list.last].next) = place;
    list.last = place;
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
    (before == kNowhere ? list.first : chunks_[before].next) = chunks_[place].next;
    free_.give_back(place);
  }

  void drop_first_chunk(UnackedSegments& list) noexcept {
    const Place place = list.first;
    list.first = chunks_[place].next;
    if (list.first == kNowhere) list.last = kNowhere;
    free_.give_back(place);
  }

  HugeBuffer<Chunk> chunks_;
  FreeList free_;
  std::uint64_t dropped_ = 0;
};

}  // namespace parshall
