// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "base/huge_buffer.hpp"
#include "pipeline/flow/in_flight.hpp"

namespace parshall {

/// Lets several workers take turns at reading one input. The worker that holds a turn reads some packets, decodes them
/// for all, and passes each to the worker that has its flow. Every worker takes the turns in input order. So each
/// packet is read, decoded and hashed once, and each flow is in one worker.
/// Shape:  room for kMostAhead turns, each with space for all of its packets for each worker. The most recently used
///         one is reused first: while workers keep pace, the same few stay in the caches, and no more memory is
///         committed.
/// Full:   a worker that would read further ahead waits for the slowest one.
class Turns {
 public:
  /// Packets of one turn that one worker counts.
  class Part {
   public:
    std::span<const PacketFacts> facts() const noexcept { return {facts_.data(), count_}; }
    std::span<const LinkPlace> places() const noexcept { return {places_.data(), count_}; }
    std::span<const TcpFacts> tcp() const noexcept { return {tcp_.data(), tcp_.size() == 0 ? 0 : count_}; }

   private:
    friend Turns;
    std::size_t count_ = 0;
    HugeBuffer<PacketFacts> facts_;
    HugeBuffer<LinkPlace> places_;  ///< relative to the turn until take()
    HugeBuffer<TcpFacts> tcp_;      ///< empty if not needed
  };

  /// A turn that is being decoded.
  class Turn {
   public:
    /// Adds the next packet on the link, for that worker.
    [[gnu::always_inline]] void add(const PacketFacts& facts, const TcpFacts& tcp, std::size_t worker) noexcept {
      Part& part = parts_[worker];
      latest_ns_ = std::max(latest_ns_, facts.time_ns);
      part.facts_[part.count_] = facts;
      part.places_[part.count_] = {counted_++, latest_ns_};
      if (part.tcp_.size() != 0) part.tcp_[part.count_] = tcp;
      ++part.count_;
    }

   private:
    friend Turns;
    std::vector<Part> parts_;
    std::uint64_t number_ = 0, counted_ = 0, latest_ns_ = 0;
    alignas(64) std::atomic<std::size_t> readers_{0};  ///< workers that have not released it
  };

  /// Progress of a worker through the turns.
  struct Reader {
    std::size_t worker;
    std::uint64_t next = 0;  ///< number of the next turn
    LinkPlace link = {};     ///< position behind the last turn taken
  };

  /// Returns the packets of a turn, given the batch size. It is at least about 10 us of work, which outweighs the lock
  /// and the ordering.
  static constexpr std::size_t packets_for(std::size_t batch) noexcept { return std::max<std::size_t>(batch, 1024); }

  /// `packets`: most of a turn.
  Turns(std::size_t workers, std::size_t packets, bool with_tcp);
  static std::uint64_t memory_bytes(std::size_t workers, std::size_t packets, bool with_tcp) noexcept;

  /// Begins the next turn with the packets from `poll`, which only one thread calls at a time. Returns null if another
  /// thread is reading, if there is no room, or if no packet came. At the end of the input, `poll` returns false and
  /// `is_last` true.
  template <class Poll, class IsLast>
  Turn* begin(Poll poll, IsLast is_last) noexcept {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || end_.load(std::memory_order_relaxed) != kNoEnd) return nullptr;
    const std::uint64_t free = free_.load(std::memory_order_acquire);
    if (free == 0) return nullptr;
    if (!poll()) {
      if (is_last()) end_.store(next_, std::memory_order_release);
      return nullptr;
    }
    free_.fetch_and(~(free & -free), std::memory_order_relaxed);
    Turn& turn = turns_[static_cast<std::size_t>(std::countr_zero(free))];
    turn.readers_.store(workers_, std::memory_order_relaxed);
    turn.number_ = next_++;
    turn.counted_ = turn.latest_ns_ = 0;
    for (Part& part : turn.parts_) part.count_ = 0;
    return &turn;
  }
  /// Publishes a turn once all of its packets have been added.
  void publish(Turn& turn) noexcept {
    Published& place = place_of(turn.number_);
    place.turn = &turn;
    place.number_after.store(turn.number_ + 1, std::memory_order_release);
  }

  /// Prevents new turns; those in progress continue.
  void close() noexcept;

  /// Returns the worker's packets of the next turn, valid until release(); null if the turn is not published yet.
  const Part* take(Reader& reader) noexcept;
  void release(Reader& reader) noexcept;
  /// Returns true if the worker has released the last turn.
  bool is_at_end(const Reader& reader) const noexcept { return end_.load(std::memory_order_acquire) == reader.next; }

 private:
  static constexpr std::size_t kMostAhead = 64;  ///< number of bits in free_
  static constexpr std::uint64_t kNoEnd = ~std::uint64_t{0};

  /// Position of a turn by number; it is the same as that of the turn kMostAhead before, which all have released by
  /// then.
  struct Published {
    std::atomic<std::uint64_t> number_after{0};  ///< number after that of `turn`
    Turn* turn = nullptr;
  };
  Published& place_of(std::uint64_t number) noexcept { return in_order_[number % kMostAhead]; }

  std::size_t workers_;
  std::vector<Turn> turns_;
  std::array<Published, kMostAhead> in_order_;
  std::atomic<std::uint64_t> free_{~std::uint64_t{0}};  ///< a bit for each of turns_
  std::mutex mutex_;
  std::uint64_t next_ = 0;  ///< number of the next turn
  std::atomic<std::uint64_t> end_{kNoEnd};
};

}  // namespace parshall
