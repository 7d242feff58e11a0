// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <bit>

#include "base/prefetch.hpp"
#include "pipeline/flow/maps/entries.hpp"

namespace parshall {

/// Open addressing with linear probing, keys and values inline: one array, half full at most.
///
/// Shape: entry = key, value. A hash's home is its top bits.
/// Erase: entries behind move back (backward shift), so no tombstones slow later lookups.
/// Full:  when all places but one are taken.
/// Source: Knuth, The Art of Computer Programming 3, 6.4, algorithms L and R; the "linear" table of Alipourfard et al.,
///         "A Comparison of Performance and Accuracy of Measurement Algorithms in Software", SOSR 2018.
template <MapKey K, class V, KeyHasher<K> Hasher>
class LinearProbing : public MapEntries<MapEntry<K, V>> {
  using Entry = MapEntry<K, V>;
  using Entries = MapEntries<Entry>;
  using Entries::entries_;

 public:
  using Entries::occupied, Entries::places, Entries::size;
  static constexpr bool kMoves = true;
  using typename Entries::Key;
  using typename Entries::Value;

  LinearProbing(std::size_t entries, Hasher hasher)
      : Entries(places_for(entries)),
        shift_(64 - static_cast<unsigned>(std::countr_zero(entries_.size()))),
        hasher_(hasher) {}

  static std::size_t places_for(std::size_t entries) noexcept {
    return std::bit_ceil(std::max<std::size_t>(2, 2 * entries));
  }
  static std::size_t memory_bytes(std::size_t entries) noexcept { return places_for(entries) * sizeof(Entry); }

  void prefetch(std::uint64_t hash) const noexcept { prefetch_object<sizeof(Entry)>(&entries_[home(hash)]); }

  Place find(std::uint64_t hash, const Key& key) const noexcept {
    for (Place at = home(hash);; at = next(at)) {
      if (entries_[at].key == key) return at;
      if (!entries_[at].key.present()) return kNowhere;
    }
  }

  template <class Moved>
  Place insert(std::uint64_t hash, const Key& key, Moved&&) noexcept {
    if (size() + 1 >= places()) return kNowhere;  // find() stops at a free place
    Place at = home(hash);
    while (entries_[at].key.present()) at = next(at);
    this->put(at, {key, {}});
    return at;
  }

  template <class Moved>
  void erase(Place hole, Moved&& moved) noexcept {
    for (Place at = next(hole); entries_[at].key.present(); at = next(at)) {
      const Place wanted = home(hasher_(entries_[at].key));
      if (distance(wanted, at) < distance(hole, at)) continue;  // it would leave its probe path
      entries_[hole] = entries_[at];
      moved(at, hole);
      hole = at;
    }
    this->clear(hole);
  }

  std::size_t rivals(std::uint64_t, std::span<Place, kMaxRivals>) const noexcept { return 0; }

  unsigned probes(std::uint64_t hash, const Key& key) const noexcept {
    const Place found = find(hash, key);
    Place last = found != kNowhere ? found : home(hash);
    while (found == kNowhere && entries_[last].key.present()) last = next(last);
    return distance(home(hash), last) + 1;
  }

 private:
  Place home(std::uint64_t hash) const noexcept { return static_cast<Place>(hash >> shift_); }
  Place next(Place at) const noexcept { return (at + 1) & mask(); }
  Place distance(Place from, Place to) const noexcept { return (to - from) & mask(); }
  Place mask() const noexcept { return static_cast<Place>(entries_.size() - 1); }

  unsigned shift_;
  Hasher hasher_;
};

struct LinearMap {
  static constexpr std::string_view kName = "linear", kHelp = "linear probing, keys and values inline";
  template <class K, class V, class H>
  using Map = LinearProbing<K, V, H>;
};

}  // namespace parshall
