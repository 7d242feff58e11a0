// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <bit>

#include "base/prefetch.hpp"
#include "pipeline/flow/maps/entries.hpp"

namespace parshall {

/// Cuckoo hashing with `Ways` entries per bucket, keys and values inline: a key is always in one of two buckets.
///
/// Shape:  bucket = Ways entries of key and value; place = bucket * Ways + entry. The two buckets of a hash are its top
///         bits and those of its product with an odd number, which depend on all bits.
/// Insert: if both buckets are full, entries move to their other buckets along the shortest path to a free place.
/// Full:   no path within kMaxSteps entries: at about half of the places for one entry a bucket, 95 % for four.
/// Source: Pagh and Rodler, "Cuckoo hashing", J. Algorithms 51, 2004; breadth-first search as in Li et al., EuroSys
///         2014, "Algorithmic improvements for fast concurrent cuckoo hashing".
template <MapKey K, class V, KeyHasher<K> Hasher, unsigned Ways>
class Cuckoo : public MapEntries<MapEntry<K, V>> {
  using Entry = MapEntry<K, V>;
  using Entries = MapEntries<Entry>;
  using Entries::entries_;

 public:
  using Entries::occupied, Entries::places, Entries::size;
  static constexpr bool kMoves = true;
  using typename Entries::Key;
  using typename Entries::Value;

  Cuckoo(std::size_t entries, Hasher hasher)
      : Entries(buckets_for(entries) * Ways),
        bits_(static_cast<unsigned>(std::countr_zero(buckets_for(entries)))),
        hasher_(hasher) {}

  static std::size_t places_for(std::size_t entries) noexcept { return buckets_for(entries) * Ways; }
  static std::size_t memory_bytes(std::size_t entries) noexcept { return buckets_for(entries) * Ways * sizeof(Entry); }

  void prefetch(std::uint64_t hash) const noexcept {
    prefetch_object<Ways * sizeof(Entry)>(&entries_[first_bucket(hash) * Ways]);
    prefetch_object<Ways * sizeof(Entry)>(&entries_[second_bucket(hash) * Ways]);
  }

  Place find(std::uint64_t hash, const Key& key) const noexcept {
    for (const Place bucket : {first_bucket(hash), second_bucket(hash)})
      for (Place at = bucket * Ways; at < (bucket + 1) * Ways; ++at)
        if (entries_[at].key == key) return at;
    return kNowhere;
  }

  template <class Moved>
  Place insert(std::uint64_t hash, const Key& key, Moved&& moved) noexcept {
    Place place = free_in(first_bucket(hash));
    if (place == kNowhere) place = free_in(second_bucket(hash));
    if (place == kNowhere) place = make_room(hash, moved);
    if (place == kNowhere) return kNowhere;
    this->put(place, {key, {}});
    return place;
  }

  template <class Moved>
  void erase(Place place, Moved&&) noexcept {
    this->clear(place);
  }

  std::size_t rivals(std::uint64_t hash, std::span<Place, kMaxRivals> rivals) const noexcept {
    static_assert(2 * Ways <= kMaxRivals);
    std::size_t count = 0;
    const auto add = [&](Place bucket) {
      for (Place at = bucket * Ways; at < (bucket + 1) * Ways; ++at)
        if (occupied(at)) rivals[count++] = at;
    };
    add(first_bucket(hash));
    if (second_bucket(hash) != first_bucket(hash)) add(second_bucket(hash));
    return count;
  }

  unsigned probes(std::uint64_t hash, const Key& key) const noexcept {
    const Place found = find(hash, key);
    return found != kNowhere && found / Ways == first_bucket(hash) ? 1 : 2;
  }

 private:
  static constexpr std::size_t kMaxSteps = 256;

  struct Step {
    Place place;
    std::size_t before;  ///< step whose entry moves to this place; itself for the first ones
  };

  static std::size_t buckets_for(std::size_t entries) noexcept {
    return std::bit_ceil(std::max<std::size_t>(2, Ways == 1 ? 3 * entries : 2 * entries / Ways));
  }
  Place first_bucket(std::uint64_t hash) const noexcept { return static_cast<Place>(hash >> (64 - bits_)); }
  Place second_bucket(std::uint64_t hash) const noexcept {
    return static_cast<Place>(hash * 0x9E3779B97F4A7C15ull >> (64 - bits_));
  }
  Place free_in(Place bucket) const noexcept {
    for (Place at = bucket * Ways; at < (bucket + 1) * Ways; ++at)
      if (!occupied(at)) return at;
    return kNowhere;
  }

  /// Frees a place in one of the two buckets of a hash, or changes nothing.
  template <class Moved>
  Place make_room(std::uint64_t hash, Moved&& moved) noexcept {
    std::array<Step, kMaxSteps> steps;
    std::size_t count = 0;
    const auto add = [&](Place bucket, std::size_t before, bool first) {
      for (Place at = bucket * Ways; at < (bucket + 1) * Ways && count < kMaxSteps; ++at) {
        const auto known = std::find_if(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(count),
                                        [&](const Step& step) { return step.place == at; });
        if (known != steps.begin() + static_cast<std::ptrdiff_t>(count)) continue;  // a path crosses no place twice
        steps[count] = {at, first ? count : before};
        ++count;
      }
    };
    add(first_bucket(hash), 0, true);
    add(second_bucket(hash), 0, true);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t other_hash = hasher_(entries_[steps[i].place].key);
      const Place here = steps[i].place / Ways, first = first_bucket(other_hash);
      const Place other = here == first ? second_bucket(other_hash) : first;
      const Place room = free_in(other);
      if (room == kNowhere) {
        add(other, i, false);
        continue;
      }
      Place to = room;
      for (std::size_t at = i;; at = steps[at].before) {
        const Place from = steps[at].place;
        entries_[to] = entries_[from];
        moved(from, to);
        entries_[from].key = {};
        to = from;
        if (steps[at].before == at) return to;
      }
    }
    return kNowhere;
  }

  unsigned bits_;
  Hasher hasher_;
};

struct Cuckoo1Map {
  static constexpr std::string_view kName = "cuckoo-1", kHelp = "two buckets of one entry";
  template <class K, class V, class H>
  using Map = Cuckoo<K, V, H, 1>;
};

struct Cuckoo4Map {
  static constexpr std::string_view kName = "cuckoo-4", kHelp = "two buckets of four entries";
  template <class K, class V, class H>
  using Map = Cuckoo<K, V, H, 4>;
};

}  // namespace parshall
