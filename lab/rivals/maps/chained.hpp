// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <bit>

#include "base/prefetch.hpp"
#include "pipeline/flow/maps/entries.hpp"
#include "pipeline/flow/maps/free_list.hpp"

namespace parshall {

template <MapKey K, class V>
struct ChainedEntry {
  K key;
  V value;
  Place next;
};

/// Number of entries of a chained map, and of buckets: a power of two, at least the number requested. The load factor
/// is entries in use per bucket, and may exceed 1.
struct ChainedSize {
  std::size_t entries, least_buckets;

  std::size_t buckets() const noexcept { return std::bit_ceil(std::max<std::size_t>(2, least_buckets)); }
};

/// Separate chaining: a bucket is the head of a linked list; entries come from one pool and never move.
///
/// Shape:  head = place; entry = key, value, next place. One to two buckets for each entry, unless ChainedSize requests
///         another number.
/// Full:   when as many entries as requested are in use.
/// Source: the "linked list" hash of FloWatcher-DPDK, IEEE TNSM 16(3), 2019, with a pool instead of an allocation for
///         each flow.
template <MapKey K, class V, KeyHasher<K> Hasher>
class Chained : public MapEntries<ChainedEntry<K, V>> {
  using Entry = ChainedEntry<K, V>;
  using Entries = MapEntries<Entry>;
  using Entries::entries_;

 public:
  using Entries::occupied, Entries::places, Entries::size;
  static constexpr bool kMoves = false;
  using typename Entries::Key;
  using typename Entries::Value;

  Chained(std::size_t entries, Hasher hasher) : Chained(ChainedSize{entries, entries}, hasher) {}
  Chained(ChainedSize sized, Hasher hasher)
      : Entries(sized.entries),
        heads_(sized.buckets()),
        free_(sized.entries),
        shift_(64 - static_cast<unsigned>(std::countr_zero(heads_.size()))),
        hasher_(hasher) {}

  static std::size_t places_for(std::size_t entries) noexcept { return entries; }
  static std::size_t memory_bytes(std::size_t entries) noexcept { return memory_bytes({entries, entries}); }
  static std::size_t memory_bytes(ChainedSize size) noexcept {
    return size.buckets() * sizeof(Place) + size.entries * (sizeof(Entry) + sizeof(Place));
  }

  void populate() noexcept {
    Entries::populate();
    heads_.populate();
  }

  void prefetch(std::uint64_t hash) const noexcept { prefetch_line(&heads_[bucket(hash)]); }

  /// Prefetches the first entry, once the head has arrived.
  void prefetch_entry(std::uint64_t hash) const noexcept {
    if (const Place at = first(bucket(hash)); at != kNowhere) prefetch_object<sizeof(Entry)>(&entries_[at]);
  }

  Place find(std::uint64_t hash, const Key& key) const noexcept {
    Place at = first(bucket(hash));
    while (at != kNowhere && !(entries_[at].key == key)) at = entries_[at].next;
    return at;
  }

  template <class Moved>
  Place insert(std::uint64_t hash, const Key& key, Moved&&) noexcept {
    const Place place = free_.take();
    if (place == kNowhere) return kNowhere;
    this->put(place, {key, {}, first(bucket(hash))});
    set_first(bucket(hash), place);
    return place;
  }

  template <class Moved>
  void erase(Place place, Moved&&) noexcept {
    const std::size_t bucket = this->bucket(hasher_(entries_[place].key));
    if (first(bucket) == place) {
      set_first(bucket, entries_[place].next);
    } else {
      Place at = first(bucket);
      while (entries_[at].next != place) at = entries_[at].next;
      entries_[at].next = entries_[place].next;
    }
    this->clear(place);
    free_.give_back(place);
  }

  std::size_t rivals(std::uint64_t, std::span<Place, kMaxRivals>) const noexcept { return 0; }

  unsigned probes(std::uint64_t hash, const Key& key) const noexcept {
    unsigned count = 1;  // the head
    for (Place at = first(bucket(hash)); at != kNowhere; at = entries_[at].next) {
      ++count;
      if (entries_[at].key == key) break;
    }
    return count;
  }

 private:
  std::size_t bucket(std::uint64_t hash) const noexcept { return hash >> shift_; }

  // Heads are stored as place + 1, so that untouched memory means "no entry".
  Place first(std::size_t bucket) const noexcept { return heads_[bucket] - 1; }
  void set_first(std::size_t bucket, Place place) noexcept { heads_[bucket] = place + 1; }

  HugeBuffer<Place> heads_;
  FreeList free_;
  unsigned shift_;
  Hasher hasher_;
};

struct ChainedMap {
  static constexpr std::string_view kName = "chained", kHelp = "linked lists";
  template <class K, class V, class H>
  using Map = Chained<K, V, H>;
};

}  // namespace parshall
