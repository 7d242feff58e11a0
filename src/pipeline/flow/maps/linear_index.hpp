// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <bit>

#include "base/prefetch.hpp"
#include "pipeline/flow/maps/entries.hpp"
#include "pipeline/flow/maps/free_list.hpp"

namespace parshall {

template <MapKey K, class V>
struct LinearIndexEntry {
  K key;
  V value;
  std::uint32_t tag;
};

/// Linear probing over an index. Keys and values are in a separate dense array and never move.
///
/// Shape: index element = 32 bits of the hash, place, half full at most; entry = key, value.
/// Cost:  one more cache line per lookup than LinearProbing, less memory if values are large.
/// Full:  when as many entries as were asked for are in use.
/// Source: "LinearPtr" of Alipourfard et al., SOSR 2018; backward shift as in LinearProbing.
template <MapKey K, class V, KeyHasher<K> Hasher>
class LinearIndex : public MapEntries<LinearIndexEntry<K, V>> {
  using Entry = LinearIndexEntry<K, V>;
  using Entries = MapEntries<Entry>;
  using Entries::entries_;

 public:
  using Entries::occupied, Entries::places, Entries::size;
  static constexpr bool kMoves = false;
  using typename Entries::Key;
  using typename Entries::Value;

  LinearIndex(std::size_t entries, Hasher)
      : Entries(entries),
        index_(index_for(entries)),
        free_(entries),
        shift_(64 - static_cast<unsigned>(std::countr_zero(index_.size()))) {}

  static std::size_t places_for(std::size_t entries) noexcept { return entries; }
  static std::size_t memory_bytes(std::size_t entries) noexcept {
    return index_for(entries) * sizeof(Element) + entries * (sizeof(Entry) + sizeof(Place));
  }

  void populate() noexcept {
    Entries::populate();
    index_.populate();
    free_.populate();
  }

  void prefetch(std::uint64_t hash) const noexcept { prefetch_line(&index_[home(tag_of(hash))]); }

  /// Prefetches the entry, once the index element has arrived.
  void prefetch_entry(std::uint64_t hash) const noexcept {
    const Element& element = index_[home(tag_of(hash))];
    if (element.in_use()) prefetch_object<sizeof(Entry)>(&entries_[element.place()]);
  }

  Place find(std::uint64_t hash, const Key& key) const noexcept {
    const std::uint32_t tag = tag_of(hash);
    for (std::uint32_t at = home(tag); index_[at].in_use(); at = next(at))
      if (index_[at].tag == tag && entries_[index_[at].place()].key == key) return index_[at].place();
    return kNowhere;
  }

  template <class Moved>
  Place insert(std::uint64_t hash, const Key& key, Moved&&) noexcept {
    const Place place = free_.take();
    if (place == kNowhere) return kNowhere;
    const std::uint32_t tag = tag_of(hash);
    std::uint32_t at = home(tag);
    while (index_[at].in_use()) at = next(at);
    index_[at] = {tag, place + 1};
    this->put(place, {key, {}, tag});
    return place;
  }

  template <class Moved>
  void erase(Place place, Moved&&) noexcept {
    std::uint32_t hole = home(entries_[place].tag);
    while (index_[hole].after_place != place + 1) hole = next(hole);
    for (std::uint32_t at = next(hole); index_[at].in_use(); at = next(at)) {
      if (distance(home(index_[at].tag), at) < distance(hole, at)) continue;
      index_[hole] = index_[at];
      hole = at;
    }
    index_[hole] = {};
    this->clear(place);
    free_.give_back(place);
  }

  std::size_t rivals(std::uint64_t, std::span<Place, kMaxRivals>) const noexcept { return 0; }

  unsigned probes(std::uint64_t hash, const Key& key) const noexcept {
    const Place found = find(hash, key);
    unsigned count = 1;
    for (std::uint32_t at = home(tag_of(hash)); index_[at].in_use(); at = next(at), ++count)
      if (index_[at].place() == found) break;
    return count;
  }

 private:
  struct Element {
    std::uint32_t tag;
    Place after_place;  ///< place + 1, so that untouched memory means "none"

    bool in_use() const noexcept { return after_place != 0; }
    Place place() const noexcept { return after_place - 1; }
  };
  static_assert(sizeof(Element) == 8);

  static std::size_t index_for(std::size_t entries) noexcept {
    return std::bit_ceil(std::max<std::size_t>(2, 2 * entries));
  }
  static std::uint32_t tag_of(std::uint64_t hash) noexcept { return static_cast<std::uint32_t>(hash >> 32); }
  std::uint32_t home(std::uint32_t tag) const noexcept {
    return static_cast<std::uint32_t>((std::uint64_t{tag} << 32) >> shift_);
  }
  std::uint32_t next(std::uint32_t at) const noexcept { return (at + 1) & mask(); }
  std::uint32_t distance(std::uint32_t from, std::uint32_t to) const noexcept { return (to - from) & mask(); }
  std::uint32_t mask() const noexcept { return static_cast<std::uint32_t>(index_.size() - 1); }

  HugeBuffer<Element> index_;
  FreeList free_;
  unsigned shift_;
};

struct LinearIndexMap {
  static constexpr std::string_view kName = "linear-index",
                                    kHelp = "linear probing over an index, keys and values beside";
  template <class K, class V, class H>
  using Map = LinearIndex<K, V, H>;
};

}  // namespace parshall
