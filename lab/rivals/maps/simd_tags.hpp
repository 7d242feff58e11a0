// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <bit>

#include "base/prefetch.hpp"
#include "base/simd.hpp"
#include "pipeline/flow/maps/entries.hpp"

namespace parshall {

/// Groups of 14 entries with 14 one-byte tags, which one SIMD comparison searches; probing goes group by group.
///
/// Shape:  group = 14 tags (top bit: in use) and the number of keys that passed it on the way to a later group; entries
///         are separate.
/// Find:   ends at the first group that no key has passed.
/// Erase:  decrements the numbers of passed keys, so that there are no tombstones.
/// Full:   when every place is taken; designed for a load of at most 7/8.
/// Source: the tag groups of Abseil's Swiss tables; counts of keys that passed as in Folly's F14.
template <MapKey K, class V, KeyHasher<K> Hasher>
class SimdTags : public MapEntries<MapEntry<K, V>> {
  using Entry = MapEntry<K, V>;
  using Entries = MapEntries<Entry>;
  using Entries::entries_;

 public:
  using Entries::occupied, Entries::places, Entries::size;
  static constexpr bool kMoves = false;
  using typename Entries::Key;
  using typename Entries::Value;

  SimdTags(std::size_t entries, Hasher hasher)
      : Entries(groups_for(entries) * kGroupSlots),
        groups_(groups_for(entries)),
        shift_(64 - static_cast<unsigned>(std::countr_zero(groups_.size()))),
        hasher_(hasher) {}

  static std::size_t places_for(std::size_t entries) noexcept { return groups_for(entries) * kGroupSlots; }
  static std::size_t memory_bytes(std::size_t entries) noexcept {
    return groups_for(entries) * (sizeof(Group) + kGroupSlots * sizeof(Entry));
  }

  void populate() noexcept {
    Entries::populate();
    groups_.populate();
  }

  void prefetch(std::uint64_t hash) const noexcept { prefetch_line(&groups_[home(hash)]); }

  /// Prefetches the entry, once the tags have arrived.
  void prefetch_entry(std::uint64_t hash) const noexcept {
    const std::size_t group = home(hash);
    const unsigned matches = groups_[group].match(tag_of(hash));
    if (matches == 0) return;
    prefetch_object<sizeof(Entry)>(&entries_[place_of(group, static_cast<unsigned>(std::countr_zero(matches)))]);
  }

  Place find(std::uint64_t hash, const Key& key) const noexcept {
    const std::uint8_t tag = tag_of(hash);
    std::size_t group = home(hash);
    for (std::size_t looked = 0; looked < groups_.size(); ++looked, group = next(group)) {
      for (unsigned matches = groups_[group].match(tag); matches != 0; matches &= matches - 1) {
        const Place place = place_of(group, static_cast<unsigned>(std::countr_zero(matches)));
        if (entries_[place].key == key) return place;
      }
      if (groups_[group].passed == 0) break;
    }
    return kNowhere;
  }

  template <class Moved>
  Place insert(std::uint64_t hash, const Key& key, Moved&&) noexcept {
    if (size() == places()) return kNowhere;
    std::size_t group = home(hash);
    for (; groups_[group].free() == 0; group = next(group)) groups_[group].pass();
    const auto i = static_cast<unsigned>(std::countr_zero(groups_[group].free()));
    groups_[group].tags[i] = tag_of(hash);
    const Place place = place_of(group, i);
    this->put(place, {key, {}});
    return place;
  }

  template <class Moved>
  void erase(Place place, Moved&&) noexcept {
    const std::size_t last = place / kGroupSlots;
    for (std::size_t group = home(hasher_(entries_[place].key)); group != last; group = next(group))
      groups_[group].unpass();
    groups_[last].tags[place % kGroupSlots] = 0;
    this->clear(place);
  }

  std::size_t rivals(std::uint64_t, std::span<Place, kMaxRivals>) const noexcept { return 0; }

  unsigned probes(std::uint64_t hash, const Key& key) const noexcept {
    const Place found = find(hash, key);
    unsigned count = 1;
    for (std::size_t group = home(hash); groups_[group].passed != 0 && count < groups_.size();
         group = next(group), ++count)
      if (found != kNowhere && found / kGroupSlots == group) break;
    return count;
  }

 private:
  static constexpr std::size_t kGroupSlots = 14;
  static constexpr unsigned kAllSlots = (1u << kGroupSlots) - 1;
  static constexpr std::uint16_t kCountsNoFurther = 0xFFFF;

  struct alignas(16) Group {
    std::array<std::uint8_t, kGroupSlots> tags;
    std::uint16_t passed;  ///< keys in a later group; stays at kCountsNoFurther once reached

    unsigned match(std::uint8_t tag) const noexcept {
      return simd::mask_of_bytes(simd::equal<std::uint8_t>(simd::load(this), simd::all(tag))) & kAllSlots;
    }
    unsigned free() const noexcept { return ~simd::mask_of_bytes(simd::load(this)) & kAllSlots; }
    void pass() noexcept {
      if (passed != kCountsNoFurther) ++passed;
    }
    void unpass() noexcept {
      if (passed != kCountsNoFurther) --passed;
    }
  };
  static_assert(sizeof(Group) == 16);

  static std::size_t groups_for(std::size_t entries) noexcept {
    return std::bit_ceil(entries * 8 / 7 / kGroupSlots + 2);
  }
  static std::uint8_t tag_of(std::uint64_t hash) noexcept { return static_cast<std::uint8_t>(hash | 0x80); }
  std::size_t home(std::uint64_t hash) const noexcept { return hash >> shift_; }
  std::size_t next(std::size_t group) const noexcept { return (group + 1) & (groups_.size() - 1); }
  static Place place_of(std::size_t group, unsigned i) noexcept { return static_cast<Place>(group * kGroupSlots + i); }

  HugeBuffer<Group> groups_;
  unsigned shift_;
  Hasher hasher_;
};

struct SimdTagsMap {
  static constexpr std::string_view kName = "simd-tags", kHelp = "groups of 14 one-byte tags, entries beside";
  template <class K, class V, class H>
  using Map = SimdTags<K, V, H>;
};

}  // namespace parshall
