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

/// A bounded queue of records of any length between one writing and one reading thread.
///
/// Shape: each record is preceded by its length in 8 bytes and padded to a multiple of 8; a length of 0 says that
///        the rest of the ring up to its end is unused. Of its memory what has waited at a time is resident, and
///        kWarmBytes; where it gives memory back, what waits, its first kKeptBytes, and behind them a page between what
///        was taken at a time and what was taken next.
class RecordRing {
 public:
  /// `gives_back`: the reader returns the memory of what it takes behind the first kKeptBytes, which costs it a call of
  /// the kernel each time, and the writer a page fault for each page later. A reader that sees the ring empty now and
  /// then is never there; one that does not, and takes less than a page at a time, returns nothing.
  explicit RecordRing(std::size_t bytes, bool gives_back = false) : ring_(bytes), gives_back_(gives_back) {}

  /// Writer: copies `head` and `tail` as one record; false when there is no room, or never will be.
  bool push(std::span<const std::byte> head, std::span<const std::byte> tail) noexcept {
    std::byte* const to = reserve(head.size() + tail.size());
    if (to == nullptr) return false;
    std::memcpy(to, head.data(), head.size());
    if (!tail.empty()) std::memcpy(to + head.size(), tail.data(), tail.size());
    publish();
    return true;
  }

  /// Writer: where a record of that length is to be written before publish(); null when there is no room, or never will
  /// be.
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

  /// Any thread: whether all that was pushed has been taken.
  bool empty() const noexcept { return ring_.empty(); }

  /// Reader: hands each waiting record to `take` as a span of bytes, until none waits. Returns how many there were.
  template <class Take>
  std::size_t drain(Take take) {
    std::size_t records = 0;
    while (drain_part(take, records)) {
    }
    return records;
  }

  /// The same for those that wait now, or for most of them: a reader of several rings is not held up by one writer.
  template <class Take>
  std::size_t drain_some(Take take) {
    std::size_t records = 0;
    drain_part(take, records);
    return records;
  }

 private:
  static constexpr std::size_t kHeader = 8, kWarmBytes = 64 << 10, kKeptBytes = 1 << 20;

  /// Up to the ring's end. Whether there was anything.
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

  /// The whole pages of it that are behind the first kKeptBytes; what is in them is lost.
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
  std::size_t reserved_ = 0;  ///< the writer's
};

}  // namespace parshall
