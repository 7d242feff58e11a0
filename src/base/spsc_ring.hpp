// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace parshall {

/// Bounded queue between one writing and one reading thread. Neither ever waits inside a call.
///
/// Shape: capacity is rounded up to a power of two; allocated once. Each side keeps its own copy of the other's index,
///        so the shared cache lines move only once a batch.
/// Source: Lamport's queue with cached indices (FastForward, PPoPP 2008; MCRingBuffer, IPDPS 2010).
template <class T>
class SpscRing {
 public:
  explicit SpscRing(std::size_t capacity)
      : mask_(std::bit_ceil(std::max<std::size_t>(capacity, 2)) - 1),
        items_(std::make_unique_for_overwrite<T[]>(mask_ + 1)) {}

  std::size_t capacity() const noexcept { return mask_ + 1; }

  /// Any thread: returns whether all that was published has been released.
  bool empty() const noexcept {
    return read_.load(std::memory_order_acquire) == written_.load(std::memory_order_acquire);
  }

  /// Writer: returns contiguous room for at most `most` items. It may be shorter than the free space where the ring
  /// wraps.
  std::span<T> writable(std::size_t most) noexcept {
    const std::uint64_t at = written_.load(std::memory_order_relaxed);
    if (capacity() - (at - read_seen_) < most) read_seen_ = read_.load(std::memory_order_acquire);
    const std::size_t free = capacity() - (at - read_seen_);
    const std::size_t start = place_of(at);
    return {&items_[start], std::min({most, free, capacity() - start})};
  }
  /// Writer: returns how far the write position is from the start of the memory.
  std::size_t offset() const noexcept { return place_of(written_.load(std::memory_order_relaxed)); }
  /// Writer, with nothing staged: moves an empty ring back to the start of its memory. A ring that is never full thus
  /// keeps only part of its memory resident.
  void begin_again() noexcept {
    const std::uint64_t at = written_.load(std::memory_order_relaxed);
    if (read_seen_ != at) read_seen_ = read_.load(std::memory_order_acquire);
    if (read_seen_ == at) start_ = at;
  }
  /// Writer: returns whether this span from writable() ends where the ring wraps.
  bool at_end(std::span<T> room) const noexcept { return room.data() + room.size() == &items_[0] + capacity(); }
  void publish(std::size_t count) noexcept {
    written_.store(written_.load(std::memory_order_relaxed) + count, std::memory_order_release);
  }

  /// Writer: returns a place for one more item behind those staged already, or null when full. flush() makes it
  /// visible.
  T* stage() noexcept {
    const std::uint64_t at = written_.load(std::memory_order_relaxed) + staged_;
    if (at - read_seen_ == capacity()) read_seen_ = read_.load(std::memory_order_acquire);
    if (at - read_seen_ == capacity()) return nullptr;
    ++staged_;
    return &items_[place_of(at)];
  }
  /// Writer: publishes the staged items. Returns whether there were any.
  bool flush() noexcept {
    if (staged_ == 0) return false;
    publish(std::exchange(staged_, 0));
    return true;
  }

  /// Reader: returns at most `most` contiguous items, oldest first.
  std::span<T> readable(std::size_t most) noexcept {
    const std::uint64_t at = read_.load(std::memory_order_relaxed);
    if (written_seen_ - at < most) written_seen_ = written_.load(std::memory_order_acquire);
    const auto waiting = static_cast<std::size_t>(written_seen_ - at);
    if (waiting == 0) return {};  // else the writer may be changing start_ at this moment
    const std::size_t start = place_of(at);
    return {&items_[start], std::min({most, waiting, capacity() - start})};
  }
  /// Reader: returns how far a span from readable() is from the start of the memory.
  std::size_t offset_of(std::span<T> items) const noexcept {
    return static_cast<std::size_t>(items.data() - &items_[0]);
  }
  void release(std::size_t count) noexcept {
    read_.store(read_.load(std::memory_order_relaxed) + count, std::memory_order_release);
  }

 private:
  static constexpr std::size_t kLine = 64;

  std::size_t place_of(std::uint64_t at) const noexcept { return (at - start_) & mask_; }

  const std::size_t mask_;
  const std::unique_ptr<T[]> items_;
  std::uint64_t start_ = 0;  ///< changed by the writer while the ring is empty; read by both while it is not
  alignas(kLine) std::atomic<std::uint64_t> written_{0};
  std::uint64_t read_seen_ = 0;  ///< the writer's copy
  std::size_t staged_ = 0;
  alignas(kLine) std::atomic<std::uint64_t> read_{0};
  std::uint64_t written_seen_ = 0;  ///< the reader's copy
};

}  // namespace parshall
