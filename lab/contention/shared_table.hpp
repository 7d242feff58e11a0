// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/clock.hpp"
#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"
#include "traffic/keys.hpp"

namespace parshall::lab {

/// Ways to add a packet to a count. kShared: several threads may add at once, and flows start by compare-and-swap.
struct Single {
  static constexpr bool kShared = false;
  template <class Count>
  static void add(Count& count, Count packets) noexcept {
    count += packets;
  }
};

/// Source: Alipourfard et al., SOSR 2018, section 5.1.
struct CompareExchange {
  static constexpr bool kShared = true;
  template <class Count>
  static void add(Count& count, Count packets) noexcept {
    const std::atomic_ref shared(count);
    Count before = shared.load(std::memory_order_relaxed);
    while (!shared.compare_exchange_weak(before, before + packets, std::memory_order_relaxed)) {
    }
  }
};

struct FetchAdd {
  static constexpr bool kShared = true;
  template <class Count>
  static void add(Count& count, Count packets) noexcept {
    std::atomic_ref(count).fetch_add(packets, std::memory_order_relaxed);
  }
};

/// Loses what another thread adds between the load and the store.
struct Racy {
  static constexpr bool kShared = true;
  template <class Count>
  static void add(Count& count, Count packets) noexcept {
    const std::atomic_ref shared(count);
    shared.store(shared.load(std::memory_order_relaxed) + packets, std::memory_order_relaxed);
  }
};

/// Counts packets by flow in one array of fixed size that any number of threads may add to at once.
///
/// Shape:  slot = claim 8, packets 8, key 16, two per cache line; linear probing, at most half full with the flows it
///         is made for. A claim is 62 bits of the flow's hash, a bit for "in use" and a bit for "key written".
/// Start:  a thread claims the first free slot on its flow's probe path by compare-and-swap, writes the key, and
///         releases it by writing the claim again. Slots are never freed, so a slot that a thread has passed stays
///         another flow's. So two threads that start the same flow come to the same slot: one claims it, and the other
///         finds that claim. No flow is in two slots, and none is lost. It is lock-free except between claim and
///         release, when a thread that meets its own flow's hash waits.
/// Full:   a flow is rejected for ever if kMostProbes slots of its path, or all slots, belong to other flows.
/// Error:  none; Racy counts too little.
template <class Update>
class SharedTable {
 public:
  using Key = LabKey<16>;
  static constexpr bool kShared = Update::kShared, kFlowsApart = true;
  struct Slot {
    std::uint64_t claim;
    std::uint64_t packets;
    Key key;
  };
  static_assert(sizeof(Slot) == 32);
  static constexpr std::size_t kMostProbes = 256;

  explicit SharedTable(std::size_t flows)
      : slots_(places_for(flows)), shift_(64 - static_cast<unsigned>(std::countr_zero(slots_.size()))) {
    slots_.populate();
  }

  static std::size_t memory_bytes(std::size_t flows) noexcept { return places_for(flows) * sizeof(Slot); }

  void prefetch(std::uint64_t hash) const noexcept { prefetch_line(&slots_[home(hash)]); }

  /// Counts packets of a flow, which starts if it is new; returns false if there is no room for it.
  [[gnu::always_inline]] bool add(std::uint64_t hash, const Key& key, std::uint64_t packets = 1) noexcept {
    std::size_t at = home(hash);
    for (std::size_t left = std::min(kMostProbes, places()); left != 0; --left, at = next(at)) {
      Slot& slot = slots_[at];
      std::uint64_t claim = read(slot.claim);
      if (claim == 0) [[unlikely]]
        claim = start(slot, hash, key);
      if constexpr (Update::kShared)
        while (claim == claimed(hash)) [[unlikely]] {
            cpu_pause();
            claim = read(slot.claim);
          }
      if (claim == written(hash) && slot.key == key) [[likely]] {
        Update::add(slot.packets, packets);
        return true;
      }
    }
    return false;
  }

  // These must not be called while a thread adds:

  /// Returns the flow's packets; 0 if it has no slot.
  std::uint64_t packets(std::uint64_t hash, const Key& key) const noexcept {
    std::size_t at = home(hash);
    for (std::size_t left = std::min(kMostProbes, places()); left != 0 && slots_[at].claim != 0; --left, at = next(at))
      if (slots_[at].claim == written(hash) && slots_[at].key == key) return slots_[at].packets;
    return 0;
  }

  /// Adds every flow of another table with the same hash; returns how many packets had no room.
  template <class Other>
  std::uint64_t merge(const SharedTable<Other>& other) noexcept {
    std::uint64_t rejected = 0;
    other.each([&](const auto& slot) {
      if (!add(slot.claim, slot.key, slot.packets)) rejected += slot.packets;
    });
    return rejected;
  }

  /// Calls `visit(slot)` for each flow, in order of their homes except for displaced ones.
  template <class Visit>
  void each(Visit visit) const {
    for (std::size_t at = 0; at < places(); ++at)
      if (slots_[at].claim != 0) visit(slots_[at]);
  }

  void clear() noexcept { std::memset(static_cast<void*>(slots_.data()), 0, slots_.bytes()); }

  std::size_t places() const noexcept { return slots_.size(); }
  std::size_t size() const noexcept {
    std::size_t flows = 0;
    each([&](const Slot&) { ++flows; });
    return flows;
  }

 private:
  static constexpr std::uint64_t kInUse = 1, kWritten = 2;

  static std::size_t places_for(std::size_t flows) noexcept {
    return std::bit_ceil(std::max<std::size_t>(2, 2 * flows));
  }
  static std::uint64_t claimed(std::uint64_t hash) noexcept { return (hash | kInUse | kWritten) - kWritten; }
  static std::uint64_t written(std::uint64_t hash) noexcept { return hash | kInUse | kWritten; }
  std::size_t home(std::uint64_t hash) const noexcept { return hash >> shift_; }
  std::size_t next(std::size_t at) const noexcept { return (at + 1) & (places() - 1); }

  /// Reads a claim, with acquire order to pair with the release of the key.
  static std::uint64_t read(std::uint64_t& claim) noexcept {
    if constexpr (Update::kShared) return std::atomic_ref(claim).load(std::memory_order_acquire);
    return claim;
  }

  /// Tries to give the flow a slot that was free. Returns the claim in it afterwards: this flow's, or that of an
  /// earlier one.
  [[gnu::noinline]] static std::uint64_t start(Slot& slot, std::uint64_t hash, Key key) noexcept {
    if constexpr (Update::kShared) {
      std::uint64_t found = 0;
      if (!std::atomic_ref(slot.claim).compare_exchange_strong(found, claimed(hash), std::memory_order_acquire))
        return found;
      slot.key = key;
      std::atomic_ref(slot.claim).store(written(hash), std::memory_order_release);
    } else {
      slot.key = key;
      slot.claim = written(hash);
    }
    return written(hash);
  }

  HugeBuffer<Slot> slots_;
  unsigned shift_;
};

}  // namespace parshall::lab
