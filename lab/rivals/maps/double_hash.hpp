// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <bit>

#include "base/prefetch.hpp"
#include "pipeline/flow/maps/entries.hpp"

namespace parshall {

/// FloWatcher's double hash: buckets of two entries, without room for a third.
///
/// Shape:  bucket = two entries of key and value; one to two buckets per entry requested.
/// Full:   a bucket's third key has no place. For as many random keys as buckets, this is one key in ten.
/// Source: Zhang et al., "FloWatcher-DPDK: lightweight line-rate flow-level monitoring in software", IEEE TNSM 16(3),
///         2019, section III; with whole keys where theirs stores bits of the hash.
template <MapKey K, class V, KeyHasher<K> Hasher>
class DoubleHash : public MapEntries<MapEntry<K, V>> {
  using Entry = MapEntry<K, V>;
  using Entries = MapEntries<Entry>;
  using Entries::entries_;

 public:
  using Entries::occupied, Entries::places, Entries::size;
  static constexpr bool kMoves = false;
  using typename Entries::Key;
  using typename Entries::Value;

  DoubleHash(std::size_t entries, Hasher)
      : Entries(2 * buckets_for(entries)), shift_(64 - static_cast<unsigned>(std::countr_zero(buckets_for(entries)))) {}

  static std::size_t places_for(std::size_t entries) noexcept { return 2 * buckets_for(entries); }
  static std::size_t memory_bytes(std::size_t entries) noexcept { return 2 * buckets_for(entries) * sizeof(Entry); }

  void prefetch(std::uint64_t hash) const noexcept { prefetch_object<2 * sizeof(Entry)>(&entries_[first_place(hash)]); }

  Place find(std::uint64_t hash, const Key& key) const noexcept {
    const Place first = first_place(hash);
    if (entries_[first].key == key) return first;
    if (entries_[first + 1].key == key) return first + 1;
    return kNowhere;
  }

  template <class Moved>
  Place insert(std::uint64_t hash, const Key& key, Moved&&) noexcept {
    Place place = first_place(hash);
    if (occupied(place) && occupied(++place)) return kNowhere;
    this->put(place, {key, {}});
    return place;
  }

  template <class Moved>
  void erase(Place place, Moved&&) noexcept {
    this->clear(place);
  }

  std::size_t rivals(std::uint64_t hash, std::span<Place, kMaxRivals> rivals) const noexcept {
    std::size_t count = 0;
    for (const Place place : {first_place(hash), first_place(hash) + 1})
      if (occupied(place)) rivals[count++] = place;
    return count;
  }

  unsigned probes(std::uint64_t, const Key&) const noexcept { return 1; }

 private:
  static std::size_t buckets_for(std::size_t entries) noexcept {
    return std::bit_ceil(std::max<std::size_t>(2, entries));
  }
  Place first_place(std::uint64_t hash) const noexcept { return static_cast<Place>(hash >> shift_) * 2; }

  unsigned shift_;
};

struct DoubleHashMap {
  static constexpr std::string_view kName = "double-hash",
                                    kHelp = "FloWatcher's: buckets of two entries, and a third flow is refused";
  template <class K, class V, class H>
  using Map = DoubleHash<K, V, H>;
};

}  // namespace parshall
