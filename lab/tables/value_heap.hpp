// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <type_traits>

#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"
#include "pipeline/flow/maps/hashed_key.hpp"
#include "pipeline/flow/maps/linear_probing.hpp"

namespace parshall::lab {

/// A fixed number of keys with packets and a value each. A new key replaces the one with the fewest packets and
/// inherits its packets, but not its value.
///
/// Shape:  entry = packets, index position of its key, value; a binary heap of entries with the fewest packets on top,
///         and a map from keys to entries.
/// Cost:   a lookup in the map, and the levels, of log2(keys), that an entry sinks: each moves an entry with its value,
///         and writes to the map.
/// Error:  none while there is a key for each flow. Otherwise packets are as in SpaceSaving, and a value covers the
///         key's packets since it was last added.
/// Source: the heap of Alipourfard et al., SOSR 2018: sections 2.1 (what is replaced), 3.1 (an entry only sinks) and
///         4.1 (packets order it, whatever else an entry holds).
template <MapKey K, class V>
requires std::is_trivially_copyable_v<V>
class ValueHeap {
 public:
  using Key = K;
  using Value = V;

  explicit ValueHeap(std::size_t keys) : entries_(keys), index_(keys, {}) {}

  static std::size_t memory_bytes(std::size_t keys) noexcept {
    return keys * sizeof(Entry) + Index::memory_bytes(keys);
  }

  void prefetch(std::uint64_t hash) const noexcept { index_.prefetch(hash); }

  /// Prefetches the entry, once the map's entry has arrived.
  void prefetch_entry(std::uint64_t hash, const Key& key) const noexcept {
    if (const Place at = find(hash, key); at != kNowhere) prefetch_object<sizeof(Entry)>(&entries_[at]);
  }

  /// Counts a packet of the key, which is added if it is missing. The reference is valid until the next call.
  Value& add(std::uint64_t hash, const Key& key) noexcept {
    Place at = find(hash, key);
    if (at != kNowhere) [[likely]] {
      ++entries_[at].packets;
      at = sink(at);
    } else {
      at = full() ? replace_least(hash, key) : insert(hash, key);
    }
    return entries_[at].value;
  }

  /// Returns an upper bound of the key's packets; for a missing key, the most it may have had.
  std::uint64_t packets(std::uint64_t hash, const Key& key) const noexcept {
    const Place at = find(hash, key);
    return at == kNowhere ? least() : entries_[at].packets;
  }
  /// Returns the value of a key, or null if it is missing.
  const Value* value(std::uint64_t hash, const Key& key) const noexcept {
    const Place at = find(hash, key);
    return at == kNowhere ? nullptr : &entries_[at].value;
  }

  std::size_t places() const noexcept { return entries_.size(); }
  std::size_t size() const noexcept { return size_; }

 private:
  using Index = LinearProbing<HashedKey<K>, Place, KeptHash>;

  struct Entry {
    std::uint64_t packets;
    Place in_index;
    Value value;
  };
  struct Moved {
    ValueHeap* heap;
    void operator()(Place, Place to) const noexcept { heap->entries_[heap->index_.value(to)].in_index = to; }
  };

  bool full() const noexcept { return size_ == entries_.size(); }
  std::uint64_t least() const noexcept { return full() ? entries_[0].packets : 0; }

  Place find(std::uint64_t hash, const Key& key) const noexcept {
    const Place place = index_.find(hash, {key, hash});
    return place == kNowhere ? kNowhere : index_.value(place);
  }

  /// Inserts a key with its first packet, which is the least that an entry has.
  Place insert(std::uint64_t hash, const Key& key) noexcept {
    auto at = static_cast<Place>(size_++);
    for (; at != 0 && entries_[above(at)].packets > 1; at = above(at)) put(at, entries_[above(at)]);
    put(at, {1, index_.insert(hash, {key, hash}, IgnoreMoves{}), {}});
    return at;
  }
  Place replace_least(std::uint64_t hash, const Key& key) noexcept {
    const std::uint64_t packets = least() + 1;
    index_.erase(entries_[0].in_index, Moved{this});
    put(0, {packets, index_.insert(hash, {key, hash}, IgnoreMoves{}), {}});
    return sink(0);
  }

  void put(Place at, const Entry& entry) noexcept {
    entries_[at] = entry;
    index_.value(entry.in_index) = at;
  }

  /// Sinks an entry until none below has fewer packets; returns its place. An entry that stays is not written.
  Place sink(Place at) noexcept {
    Place lesser = lesser_below(at, entries_[at].packets);
    if (lesser == kNowhere) return at;
    const Entry entry = entries_[at];
    for (; lesser != kNowhere; lesser = lesser_below(at, entry.packets)) {
      put(at, entries_[lesser]);
      at = lesser;
    }
    put(at, entry);
    return at;
  }

  static Place above(Place at) noexcept { return (at - 1) / 2; }
  /// Returns which of the two entries below has the fewest packets; kNowhere if neither has fewer than `packets`.
  Place lesser_below(Place at, std::uint64_t packets) const noexcept {
    const std::size_t left = 2 * std::size_t{at} + 1, right = left + 1;
    if (left >= size_) return kNowhere;
    const std::size_t least = right < size_ && entries_[right].packets < entries_[left].packets ? right : left;
    return entries_[least].packets < packets ? static_cast<Place>(least) : kNowhere;
  }

  HugeBuffer<Entry> entries_;
  Index index_;
  std::size_t size_ = 0;
};

}  // namespace parshall::lab
