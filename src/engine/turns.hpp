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

/// Packets of one input that several workers read in turns: whoever has a turn decodes some packets for all, and hands
/// each to the worker that has its flow, who takes the turns in the order of the input. So each packet is read, decoded
/// and hashed once, and a flow is in one worker alone.
///
/// Shape: room for kMostAhead turns, in each for all of its packets for each worker. Which was used last is used first:
///        while workers keep step the same few stay in their caches, and no more memory is committed.
/// Full:  who would read further ahead of the slowest worker waits for him.
class Turns {
 public:
  /// The packets of one turn that one worker counts.
  class Part {
   public:
    std::span<const PacketFacts> facts() const noexcept { return {facts_.data(), count_}; }
    std::span<const LinkPlace> places() const noexcept { return {places_.data(), count_}; }
    std::span<const TcpFacts> tcp() const noexcept { return {tcp_.data(), tcp_.size() == 0 ? 0 : count_}; }

   private:
    friend Turns;
    std::size_t count_ = 0;
    HugeBuffer<PacketFacts> facts_;
    HugeBuffer<LinkPlace> places_;  ///< within the turn, until take()
    HugeBuffer<TcpFacts> tcp_;      ///< none where nobody asks
  };

  /// In the hands of who decodes it.
  class Turn {
   public:
    /// The packet that follows on the link, for that worker.
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
    alignas(64) std::atomic<std::size_t> readers_{0};  ///< who have not released it
  };

  /// How far a worker is with what he counts.
  struct Reader {
    std::size_t worker;
    std::uint64_t next = 0;  ///< turn
    LinkPlace link = {};     ///< behind the last turn taken
  };

  /// Of a turn, where a batch is so many: some 10 us of work at least, for a lock and a place in order.
  static constexpr std::size_t packets_for(std::size_t batch) noexcept { return std::max<std::size_t>(batch, 1024); }

  /// `packets`: of a turn, at most.
  Turns(std::size_t workers, std::size_t packets, bool with_tcp);
  static std::uint64_t memory_bytes(std::size_t workers, std::size_t packets, bool with_tcp) noexcept;

  /// The next turn, with the packets that `poll` gets, which one thread calls at a time. Null where somebody else is at
  /// it, there is no room, no packet came, or none will come any more: `poll` returns false, and `is_last` true.
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
  /// All of its packets have been added.
  void publish(Turn& turn) noexcept {
    Published& place = place_of(turn.number_);
    place.turn = &turn;
    place.number_after.store(turn.number_ + 1, std::memory_order_release);
  }

  /// No turn begins any more; those that have begun go on.
  void close() noexcept;

  /// What the worker counts of the next turn, until he releases it; null where that is not there yet.
  const Part* take(Reader& reader) noexcept;
  void release(Reader& reader) noexcept;
  /// Whether he has released the last one.
  bool is_at_end(const Reader& reader) const noexcept { return end_.load(std::memory_order_acquire) == reader.next; }

 private:
  static constexpr std::size_t kMostAhead = 64;  ///< bits of free_
  static constexpr std::uint64_t kNoEnd = ~std::uint64_t{0};

  /// The place of a number is that of the one kMostAhead before, which all have released when it begins.
  struct Published {
    std::atomic<std::uint64_t> number_after{0};  ///< whose `turn` is here
    Turn* turn = nullptr;
  };
  Published& place_of(std::uint64_t number) noexcept { return in_order_[number % kMostAhead]; }

  std::size_t workers_;
  std::vector<Turn> turns_;
  std::array<Published, kMostAhead> in_order_;
  std::atomic<std::uint64_t> free_{~std::uint64_t{0}};  ///< a bit for each of turns_
  std::mutex mutex_;
  std::uint64_t next_ = 0;  ///< turn to begin
  std::atomic<std::uint64_t> end_{kNoEnd};
};

}  // namespace parshall
