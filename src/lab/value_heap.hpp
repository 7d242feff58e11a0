// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <type_traits>

#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"
#include "pipeline/flow/maps/hashed_key.hpp"
#include "pipeline/flow/maps/linear_probing.hpp"

namespace parshall::lab {

/// Keys with packets and a value each, of a number that does not grow; a new key takes the place of the one with the
/// fewest packets, and its packets with it, but not its value.
///
/// Shape:  entry = packets, where its key is in the index, value; a binary heap of entries, the one of the fewest
///         packets first, and a map from keys to entries.
/// Cost:   a lookup in the map; of log2(keys) levels, those that an entry sinks: each moves an entry, with its value,
///         and writes to the map.
/// Error:  none while there is a key for each flow. Otherwise packets are as of SpaceSaving, and a value is of the
///         key's packets since it last came in.
/// Source: the heap of Alipourfard et al., SOSR 2018: sections 2.1 (what is replaced), 3.1 (an entry only sinks) and
///         4.1 (packets order it, whatever else an entry keeps).
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

  /// Asks for the entry, once the map's has come.
  void prefetch_entry(std::uint64_t hash, const Key& key) const noexcept {
    if (const Place at = find(hash, key); at != kNowhere) prefetch_object<sizeof(Entry)>(&entries_[at]);
  }

  /// Counts a packet of the key, which comes in where it is not there. Its value stays where it is until the next one.
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

  /// At least the key's; where it is not there, what it may have had at most.
  std::uint64_t packets(std::uint64_t hash, const Key& key) const noexcept {
    const Place at = find(hash, key);
    return at == kNowhere ? least() : entries_[at].packets;
  }
  /// Of a key that is there; null where it is not.
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

  /// With its first packet, which no entry has fewer than.
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

  /// To where none below has fewer packets; where that is. One that need not move is not written to.
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
  /// Of the two below, that of the fewest packets; kNowhere where neither has fewer than `packets`.
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
