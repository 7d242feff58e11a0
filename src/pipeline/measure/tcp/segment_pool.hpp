// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "base/huge_buffer.hpp"
#include "pipeline/flow/maps/free_list.hpp"

namespace parshall {

/// A segment that nobody has acknowledged yet.
struct UnackedSegment {
  std::uint32_t seq, next_seq;
  std::uint64_t time_ns;
  std::uint32_t ts_value;            ///< RFC 7323; of segments without, 0
  std::uint32_t next : 31;           ///< place of the segment sent after it; kLast: none
  std::uint32_t retransmission : 1;  ///< it, or one that overlaps it, is one

  static constexpr std::uint32_t kLast = (1u << 31) - 1;
};
static_assert(sizeof(UnackedSegment) == 24);

/// Those of one sender, in the order they were sent.
struct UnackedSegments {
  std::uint32_t first = UnackedSegment::kLast, last = UnackedSegment::kLast;
  std::uint16_t count = 0;
  bool sorted = true;  ///< none ends before one that was sent earlier

  bool empty() const noexcept { return count == 0; }
};

/// The segments of all connections, in memory of a fixed size.
///
/// Shape: 24 bytes a segment and 4 of the list of free ones.
/// Full:  a segment is not kept, and counted: it gives no round-trip time, and when it comes again soon it may be taken
///        for one that is out of order.
class SegmentPool {
 public:
  static constexpr std::uint16_t kMostPerSender = 1000;

  explicit SegmentPool(std::size_t segments) : segments_(segments), free_(segments) {}

  static std::size_t memory_bytes(std::size_t segments) noexcept {
    return segments * (sizeof(UnackedSegment) + sizeof(Place));
  }

  void append(UnackedSegments& list, UnackedSegment segment) noexcept {
    const Place place = list.count == kMostPerSender ? kNowhere : free_.take();
    if (place == kNowhere) {
      ++dropped_;
      return;
    }
    segment.next = UnackedSegment::kLast;
    if (list.empty()) {
      list.first = place;
      list.sorted = true;
    } else {
      UnackedSegment& last = segments_[list.last];
      last.next = place & UnackedSegment::kLast;
      list.sorted = list.sorted && static_cast<std::int32_t>(segment.next_seq - last.next_seq) >= 0;
    }
    segments_[place] = segment;
    list.last = place;
    ++list.count;
  }

  /// Hands each segment, the oldest first, to `visit`, which returns whether to go on.
  template <class Visit>
  void visit(const UnackedSegments& list, Visit visit) noexcept {
    for (std::uint32_t at = list.first; at != UnackedSegment::kLast; at = segments_[at].next)
      if (!visit(segments_[at])) return;
  }

  /// Removes those that end at `ack` or before, after `removed` has seen them; `kept` sees, and may change, others up to
  /// the first that begins behind `ack`.
  template <class Removed, class Kept>
  void acknowledge(UnackedSegments& list, std::uint32_t ack, Removed removed, Kept kept) noexcept {
    std::uint32_t before = UnackedSegment::kLast;
    for (std::uint32_t at = list.first; at != UnackedSegment::kLast;) {
      UnackedSegment& segment = segments_[at];
      const std::uint32_t next = segment.next;
      if (static_cast<std::int32_t>(segment.next_seq - ack) <= 0) {
        removed(segment);
        unlink(list, before, at, next);
      } else {
        kept(segment);
        before = at;
        if (list.sorted) break;
      }
      at = next;
    }
    if (list.empty()) list = {};
  }

  void clear(UnackedSegments& list) noexcept {
    for (std::uint32_t at = list.first; at != UnackedSegment::kLast;) {
      const std::uint32_t next = segments_[at].next;
      free_.give_back(at);
      at = next;
    }
    list = {};
  }

  std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  void unlink(UnackedSegments& list, std::uint32_t before, std::uint32_t at, std::uint32_t next) noexcept {
    if (before == UnackedSegment::kLast)
      list.first = next;
    else
      segments_[before].next = next & UnackedSegment::kLast;
    if (list.last == at) list.last = before;
    --list.count;
    free_.give_back(at);
  }

  HugeBuffer<UnackedSegment> segments_;
  FreeList free_;
  std::uint64_t dropped_ = 0;
};

}  // namespace parshall
