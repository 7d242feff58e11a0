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

/// Those of one sender, in the order they were sent: a list of chunks.
struct UnackedSegments {
  Place first = kNowhere, last = kNowhere;
  std::uint16_t count = 0;
  bool sorted = true;  ///< none ends before one that was sent earlier

  bool empty() const noexcept { return count == 0; }
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

  static std::size_t memory_bytes(std::size_t chunks) noexcept { return chunks * (sizeof(Chunk) + sizeof(Place)); }

  /// Of a list that is about to be appended to, and of one that is about to be acknowledged.
  void prefetch(const UnackedSegments& sent, const UnackedSegments& acknowledged) const noexcept {
    if (!sent.empty()) prefetch_object<sizeof(Chunk)>(&chunks_[sent.last]);
    if (!acknowledged.empty()) prefetch_object<sizeof(Chunk)>(&chunks_[acknowledged.first]);
  }

  void append(UnackedSegments& list, const UnackedSegment& segment) noexcept {
    const std::uint32_t end = list.empty() ? segment.next_seq : last_end(list);
    if (list.count == kMostPerSender || !make_room(list)) {
      ++dropped_;
      return;
    }
    list.sorted = list.sorted && static_cast<std::int32_t>(segment.next_seq - end) >= 0;
    Chunk& chunk = chunks_[list.last];
    chunk.segments[chunk.end++] = segment;
    ++list.count;
  }

  /// Hands each segment, the oldest first, to `visit`, which returns whether to go on.
  template <class Visit>
  void visit(const UnackedSegments& list, Visit visit) noexcept {
    for (Place place = list.first; place != kNowhere; place = chunks_[place].next)
      for (std::size_t i = chunks_[place].begin; i != chunks_[place].end; ++i)
        if (UnackedSegment& segment = chunks_[place].segments[i]; !segment.acknowledged && !visit(segment)) return;
  }

  /// Removes those that end at `ack` or before, after `removed` has seen them, the oldest first.
  template <class Removed>
  void acknowledge(UnackedSegments& list, std::uint32_t ack, Removed removed) noexcept {
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

  void clear(UnackedSegments& list) noexcept {
    while (list.first != kNowhere) drop_first_chunk(list);
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
