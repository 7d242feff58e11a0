// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "base/spsc_ring.hpp"

namespace parshall {

/// Bounded queue of records of any length between one writing and one reading thread.
///
/// Shape: each record is preceded by its length in 8 bytes and padded to a multiple of 8. A length of 0 marks the rest
///        of the ring up to its end as unused. Resident memory is the most that ever waited at a time, and kWarmBytes.
///        A ring that gives memory back keeps the records that wait, its first kKeptBytes, and behind them one page at
///        each boundary between two reads.
class RecordRing {
 public:
  /// With `gives_back`, the reader returns the memory of records behind the first kKeptBytes to the kernel. This costs
  /// the reader a system call each time, and the writer a page fault per page later. A reader that sees the ring empty
  /// now and then never gets that far. One that does not, and takes less than a page at a time, returns nothing.
  explicit RecordRing(std::size_t bytes, bool gives_back = false) : ring_(bytes), gives_back_(gives_back) {}

  /// Writer: copies `head` and `tail` as one record. Returns false when there is no room for it, now or ever.
  bool push(std::span<const std::byte> head, std::span<const std::byte> tail) noexcept {
    std::byte* const to = reserve(head.size() + tail.size());
    if (to == nullptr) return false;
    std::memcpy(to, head.data(), head.size());
    if (!tail.empty()) std::memcpy(to + head.size(), tail.data(), tail.size());
    publish();
    return true;
  }

  /// Writer: returns where to write a record of that length before publish(). Returns null when there is no room for
  /// it, now or ever.
  std::byte* reserve(std::uint64_t length) noexcept {
    const std::size_t needed = kHeader + (length + 7) / 8 * 8;
    if (ring_.offset() >= kWarmBytes) ring_.begin_again();
    std::span<std::byte> room = ring_.writable(needed);
    if (room.size() < needed) {
      const std::span<std::byte> more = ring_.writable(ring_.capacity());
      if (more.size() < needed && ring_.at_end(more) && more.size() >= kHeader) {
        const std::uint64_t skip = 0;
        std::memcpy(more.data(), &skip, kHeader);
        ring_.publish(more.size());
        room = ring_.writable(needed);
      }
      if (room.size() < needed) return nullptr;
    }
    std::memcpy(room.data(), &length, kHeader);
    reserved_ = needed;
    return room.data() + kHeader;
  }
  void publish() noexcept { ring_.publish(reserved_); }

  /// Any thread: returns whether all that was pushed has been taken.
  bool empty() const noexcept { return ring_.empty(); }

  /// Reader: hands each waiting record to `take` as a span of bytes, until none waits. Returns how many there were.
  template <class Take>
  std::size_t drain(Take take) {
    std::size_t records = 0;
    while (drain_part(take, records)) {
    }
    return records;
  }

  /// Does the same for the records that wait now, or for most of them. A fast writer thus cannot hold up a reader of
  /// several rings.
  template <class Take>
  std::size_t drain_some(Take take) {
    std::size_t records = 0;
    drain_part(take, records);
    return records;
  }

 private:
  static constexpr std::size_t kHeader = 8, kWarmBytes = 64 << 10, kKeptBytes = 1 << 20;

  /// Takes records up to the ring's end. Returns whether there were any.
  template <class Take>
  bool drain_part(Take& take, std::size_t& records) {
    const std::span<std::byte> bytes = ring_.readable(ring_.capacity());
    if (bytes.empty()) return false;
    std::size_t at = 0;
    while (at < bytes.size()) {
      std::uint64_t length;
      std::memcpy(&length, bytes.data() + at, kHeader);
      if (length == 0) {
        at = bytes.size();
        break;
      }
      take(std::span<const std::byte>(bytes.data() + at + kHeader, length));
      at += kHeader + (length + 7) / 8 * 8;
      ++records;
    }
    if (gives_back_ && ring_.offset_of(bytes) + at > kKeptBytes) give_back(bytes.first(at));
    ring_.release(at);
    return true;
  }

  /// Returns the whole pages behind the first kKeptBytes to the kernel; their contents are lost.
  void give_back(std::span<std::byte> bytes) noexcept {
    static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t offset = ring_.offset_of(bytes);
    const std::span<std::byte> behind = bytes.subspan(offset < kKeptBytes ? kKeptBytes - offset : 0);
    const auto address = reinterpret_cast<std::uintptr_t>(behind.data());
    const std::uintptr_t begin = (address + page - 1) / page * page, end = (address + behind.size()) / page * page;
    if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }

  SpscRing<std::byte> ring_;
  bool gives_back_;
  std::size_t reserved_ = 0;  ///< used by the writer only
};

}  // namespace parshall
