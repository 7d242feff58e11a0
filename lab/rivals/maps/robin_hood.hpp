// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <bit>

#include "base/prefetch.hpp"
#include "base/simd.hpp"
#include "pipeline/flow/maps/entries.hpp"

namespace parshall {

/// Robin Hood hashing: linear probing in which an entry is displaced by one that is further from its home.
///
/// Shape:  word = distance of the entry from its home, plus 1, and 8 bits of its hash; entries of key and value are
///         separate. A hash's home is its top bits; kFurthest places follow the last home, so that nothing wraps
///         around.
/// Find:   compares eight words at once; only entries with the same home and hash bits match. Ends where an entry is
///         nearer to its home than the key would be.
/// Insert: moves entries that are nearer to their homes by one place, up to the next free place.
/// Erase:  moves later entries back (backward shift), up to one that is at home.
/// Full:   if an entry would be further than kFurthest from its home; does not happen for random keys at the designed
///         load of at most 7/8.
/// Error:  none: whole keys are compared.
/// Source: Celis, Larson, Munro, "Robin Hood Hashing", FOCS 1985; words compared in groups as in Abseil's Swiss tables.
template <MapKey K, class V, KeyHasher<K> Hasher>
class RobinHood : public MapEntries<MapEntry<K, V>> {
  using Entry = MapEntry<K, V>;
  using Entries = MapEntries<Entry>;
  using Entries::entries_;

 public:
  static constexpr bool kMoves = true;
  using typename Entries::Key;
  using typename Entries::Value;

  RobinHood(std::size_t entries, Hasher)
      : Entries(places_for(entries)),
        words_(words_for(entries)),
        shift_(64 - static_cast<unsigned>(std::countr_zero(homes_for(entries)))) {}

  static std::size_t places_for(std::size_t entries) noexcept { return homes_for(entries) + kFurthest; }
  static std::size_t memory_bytes(std::size_t entries) noexcept {
    return places_for(entries) * sizeof(Entry) + words_for(entries) * sizeof(Word);
  }

  void populate() noexcept {
    Entries::populate();
    words_.populate();
  }

  void prefetch(std::uint64_t hash) const noexcept { prefetch_line(&words_[home(hash)]); }

  /// Prefetches the entry, once the words have arrived.
  void prefetch_entry(std::uint64_t hash) const noexcept {
    const Place first = home(hash);
    const unsigned matches = match(first, tag_of(hash), 0);
    if (matches == 0) return;
    prefetch_object<sizeof(Entry)>(&entries_[first + static_cast<unsigned>(std::countr_zero(matches))]);
  }

  Place find(std::uint64_t hash, const Key& key) const noexcept {
    const Word tag = tag_of(hash);
    Place group = home(hash);
    for (unsigned distance = 0;; distance += kGroup, group += kGroup) {
      for (unsigned matches = match(group, tag, distance); matches != 0; matches &= matches - 1) {
        const Place place = group + static_cast<unsigned>(std::countr_zero(matches));
        if (entries_[place].key == key) return place;
      }
      if (ends(group, distance)) return kNowhere;
    }
  }

  template <class Moved>
  Place insert(std::uint64_t hash, const Key& key, Moved&& moved) noexcept {
    Place place = home(hash);
    unsigned distance = 0;
    for (; words_[place] >= word_of(distance, 0); ++place) ++distance;
    if (distance > kFurthest) return kNowhere;
    Place free = place;
    for (; words_[free] != 0; ++free)
      if (is_furthest(free)) return kNowhere;
    for (; free != place; --free) {
      entries_[free] = entries_[free - 1];
      words_[free] = static_cast<Word>(words_[free - 1] + kOneFurther);
      moved(free - 1, free);
    }
    words_[place] = word_of(distance, tag_of(hash));
    this->put(place, {key, {}});
    return place;
  }

  template <class Moved>
  void erase(Place hole, Moved&& moved) noexcept {
    for (; words_[hole + 1] >= word_of(1, 0); ++hole) {
      entries_[hole] = entries_[hole + 1];
      words_[hole] = static_cast<Word>(words_[hole + 1] - kOneFurther);
      moved(hole + 1, hole);
    }
    words_[hole] = 0;
    this->clear(hole);
  }

  /// Returns the entries before one that cannot move further: none is at home, so all behind them move back if one is
  /// erased.
  std::size_t rivals(std::uint64_t hash, std::span<Place, kMaxRivals> rivals) const noexcept {
    static_assert(kMaxRivals < kFurthest);
    Place at = home(hash);
    while (words_[at] != 0 && !is_furthest(at)) ++at;
    if (words_[at] == 0) return 0;
    for (Place& rival : rivals) rival = at--;
    return kMaxRivals;
  }

  unsigned probes(std::uint64_t hash, const Key& key) const noexcept {
    const Place found = find(hash, key);
    unsigned count = 1;
    for (Place group = home(hash); !ends(group, (count - 1) * kGroup); group += kGroup, ++count)
      if (found < group + kGroup) break;
    return count;
  }

 private:
  using Word = std::uint16_t;
  static constexpr unsigned kGroup = 8, kTagBits = 8;
  static constexpr Word kOneFurther = 1 << kTagBits;
  /// Largest distance, limited by what a word can store; the last word of the last group ends every search.
  static constexpr unsigned kFurthest = 31 * kGroup - 2;

  static std::size_t homes_for(std::size_t entries) noexcept {
    return std::bit_ceil(std::max<std::size_t>(2, entries * 8 / 7));
  }
  static std::size_t words_for(std::size_t entries) noexcept { return places_for(entries) + kGroup; }
  static Word tag_of(std::uint64_t hash) noexcept { return static_cast<std::uint8_t>(hash); }
  static Word word_of(unsigned distance, Word tag) noexcept {
    return static_cast<Word>((distance + 1) << kTagBits | tag);
  }
  Place home(std::uint64_t hash) const noexcept { return static_cast<Place>(hash >> shift_); }
  bool is_furthest(Place place) const noexcept { return words_[place] >= word_of(kFurthest, 0); }

  /// Returns which of a group's entries have that tag, and a home `distance` before the group.
  unsigned match(Place group, Word tag, unsigned distance) const noexcept {
    using Words [[gnu::vector_size(16)]] = Word;
    const Words wanted = (Words{0, 1, 2, 3, 4, 5, 6, 7} << kTagBits) + word_of(distance, tag);
    return simd::mask_of_words16(
        simd::equal<Word>(simd::load(&words_[group]), reinterpret_cast<simd::Bytes16>(wanted)));
  }
  /// Returns true if a key whose home is `distance` before the group is in no later group.
  bool ends(Place group, unsigned distance) const noexcept {
    return words_[group + kGroup - 1] < word_of(distance + kGroup - 1, 0);
  }

  HugeBuffer<Word> words_;
  unsigned shift_;
};

struct RobinHoodMap {
  static constexpr std::string_view kName = "robin-hood",
                                    kHelp = "linear probing in order of homes, distances and 8-bit tags beside";
  template <class K, class V, class H>
  using Map = RobinHood<K, V, H>;
};

}  // namespace parshall
