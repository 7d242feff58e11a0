// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"
#include "base/spsc_ring.hpp"
#include "pipeline/decode/facts.hpp"
#include "pipeline/measure/flow_rows.hpp"

namespace parshall {

/// Counts of a flow in a window. Its measures follow in memory.
struct alignas(64) WindowRow {
  std::uint32_t slot = 0;  ///< slot of the flow while the window is open; kNoSlot if it never had one
  std::uint16_t tcp_flags = 0;
  std::uint8_t state = 0, effective_state = 0, other_state = 0;
  std::uint8_t weight = 0;
  bool more_states : 1 = false, starts : 1 = false;
  bool is_part : 1 = false;      ///< the flow was evicted, or never had a slot
  bool is_measured : 1 = false;  ///< if false, its measures are undefined
  std::uint64_t packets = 0, ip_bytes = 0, wire_bytes = 0;
  std::uint64_t first_ns = 0, last_ns = 0;
  std::uint64_t earlier_states = 0;

  std::byte* measured() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  const std::byte* measured() const noexcept { return reinterpret_cast<const std::byte*>(this + 1); }

  void add(const RowUpdate& packet) noexcept {
    ++packets;
    ip_bytes += packet.counts.ip_bytes();
    wire_bytes += packet.wire_bytes();
    last_ns = packet.time_ns;
    tcp_flags = static_cast<std::uint16_t>(tcp_flags | packet.counts.tcp_flags());
  }
};
static_assert(sizeof(WindowRow) == 64);

/// Rows in order, as a list of chunks of a RowPool.
struct RowList {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::uint32_t first = kNone, last = kNone;  ///< chunks; kNone: the list is empty

  bool empty() const noexcept { return first == kNone; }
};

/// Memory for the rows of windows. The worker fills chunks of rows, and the analyst reads them in place and gives them
/// back. Only compact() copies a row.
///
/// Shape:  a row is a WindowRow and the measures of its window, in whole cache lines. Its key is in an array beside
///         them. A chunk has up to 1024 rows, and a small pool has chunks of fewer. Chunks that were used last are used
///         again first.
/// Full:   append() returns kNone if no chunk is free but one, which is left for compact().
class RowPool {
 public:
  static constexpr std::uint32_t kNone = RowList::kNone;

  RowPool(std::size_t rows, std::size_t measured_bytes);

  static std::size_t memory_bytes(std::size_t rows, std::size_t measured_bytes) noexcept;
  void populate() noexcept {
    rows_.populate();
    keys_.populate();
  }

  const WindowRow& row(std::uint32_t at) const noexcept {
    return *reinterpret_cast<const WindowRow*>(rows_.data() + at * stride_);
  }
  const FlowKey& key(std::uint32_t at) const noexcept { return keys_[at]; }

  // Writer:

  WindowRow& row(std::uint32_t at) noexcept { return *reinterpret_cast<WindowRow*>(rows_.data() + at * stride_); }
  FlowKey& key(std::uint32_t at) noexcept { return keys_[at]; }
  /// Prefetches a row, and the first line of its measures if `measured`.
  void prefetch(std::uint32_t at, bool measured) const noexcept {
    const std::byte* const row = rows_.data() + at * stride_;
    prefetch_line(row);
    if (measured) prefetch_line(row + sizeof(WindowRow));
  }

  /// Returns a new row at the end of the list, with undefined content.
  std::uint32_t append(RowList& list) noexcept {
    if (begins_chunk(list)) [[unlikely]]
      if (!append_chunk(list)) return kNone;
    Head& head = heads_[list.last];
    const std::uint32_t at = list.last * chunk_rows_ + head.count++;
    const std::uint32_t soon = std::min(at + kAhead, static_cast<std::uint32_t>(keys_.size()) - 1);
    prefetch(soon, stride_ > sizeof(WindowRow));
    prefetch_line(&keys_[soon]);
    return at;
  }

  std::uint32_t chunk_rows() const noexcept { return chunk_rows_; }

  /// Returns whether the next append() begins a chunk.
  bool begins_chunk(const RowList& list) const noexcept {
    return list.empty() || heads_[list.last].count == chunk_rows_;
  }
  /// Returns whether few chunks are free.
  bool is_low() noexcept {
    take_back();
    return free_.size() < heads_.size() / 8 + 2;
  }
  /// Notes that a row is not needed in its list any more.
  void end_row(std::uint32_t at) noexcept { ++heads_[at / chunk_rows_].ended; }
  /// Moves first chunks in which fewer than one row in `few` has ended to the end of the list, until there is none or
  /// each has been looked at.
  void skip_live(RowList& list, std::uint32_t few) noexcept;

  /// Returns whether compact() can be called: a chunk is left for it, and the list has several.
  bool can_compact(const RowList& list) const noexcept { return list.first != list.last && !free_.empty(); }

  /// Moves the rows of the list's first chunk for which `is_kept(index)` is true to the end of the list, whose last
  /// chunk must be full, and calls `moved(index, new index)` for each. Returns the others as a list of their own, which
  /// may be empty.
  template <class IsKept, class Moved>
  RowList compact(RowList& list, IsKept is_kept, Moved moved) noexcept {
    const std::uint32_t from = list.first;
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < heads_[from].count; ++i) {
      const std::uint32_t at = from * chunk_rows_ + i;
      if (!is_kept(at)) continue;
      if (kept++ == 0) append_free(list);
      const std::uint32_t there = list.last * chunk_rows_ + heads_[list.last].count++;
      std::memcpy(static_cast<void*>(&row(there)), &row(at), stride_);
      keys_[there] = keys_[at];
      row(at).packets = 0;  // visit() passes over it
      moved(at, there);
    }
    list.first = std::exchange(heads_[from].next, kNone);
    if (kept != heads_[from].count) return {from, from};
    free_.push_back(from);
    return {};
  }

  /// Frees the chunks of a list that was not passed on.
  void drop(RowList& list) noexcept;

  // Reader, or the writer before it passes the list on:

  /// Calls `take(row, key)` for each row that was not moved.
  template <class Take>
  void visit(const RowList& list, Take take) const {
    for (std::uint32_t chunk = list.first; chunk != kNone; chunk = heads_[chunk].next) visit_chunk(chunk, take);
  }

  // Reader:

  /// Calls `take(row, key)` for each row and `done()` for each chunk. Its rows may be overwritten once that returns.
  template <class Take, class Done>
  void consume(const RowList& list, Take take, Done done) {
    for (std::uint32_t chunk = list.first; chunk != kNone;) {
      visit_chunk(chunk, take);
      done();
      const std::uint32_t next = heads_[chunk].next;  // the writer may use it once it is given back
      give_back(chunk);
      chunk = next;
    }
  }

 private:
  struct Head {
    std::uint32_t next = kNone, count = 0, ended = 0;
  };
  static constexpr std::uint32_t kAhead = 4;  ///< rows that are prefetched before they are begun

  static std::size_t stride_of(std::size_t measured_bytes) noexcept {
    return (sizeof(WindowRow) + measured_bytes + 63) / 64 * 64;
  }
  template <class Take>
  void visit_chunk(std::uint32_t chunk, Take& take) const {
    for (std::uint32_t i = 0; i < heads_[chunk].count; ++i)
      if (const std::uint32_t at = chunk * chunk_rows_ + i; row(at).packets != 0) take(row(at), keys_[at]);
  }
  void give_back(std::uint32_t chunk) noexcept;
  [[gnu::noinline]] bool append_chunk(RowList& list) noexcept;
  void append_free(RowList& list) noexcept;
  /// Takes what the reader gave back.
  void take_back() noexcept;

  std::uint32_t chunk_rows_;
  std::size_t stride_;
  HugeBuffer<std::byte> rows_;
  HugeBuffer<FlowKey> keys_;
  std::vector<Head> heads_;          ///< by chunk
  std::vector<std::uint32_t> free_;  ///< a stack
  SpscRing<std::uint32_t> returned_;
};

}  // namespace parshall
