// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <bit>

#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"
#include "pipeline/flow/maps/map.hpp"

namespace parshall {

/// FloWatcher's double hash: buckets of two entries, and no room for a third.
///
/// Shape:  bucket = two entries of key, value; as many buckets as entries were asked for, or up to twice that.
/// Full:   a bucket's third key has no place. Random keys, as many as buckets: one in ten.
/// Source: Zhang et al., "FloWatcher-DPDK: lightweight line-rate flow-level monitoring in software", IEEE TNSM 16(3),
///         2019, section III; with whole keys where theirs keeps bits of the hash.
template <MapKey K, class V, KeyHasher<K> Hasher>
class DoubleHash {
 public:
  using Key = K;
  using Value = V;

  DoubleHash(std::size_t entries, Hasher)
      : entries_(2 * buckets_for(entries)),
        shift_(64 - static_cast<unsigned>(std::countr_zero(buckets_for(entries)))) {}

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
    entries_[place] = {key, {}};
    ++size_;
    return place;
  }

  template <class Moved>
  void erase(Place place, Moved&&) noexcept {
    entries_[place].key = {};
    --size_;
  }

  std::size_t rivals(std::uint64_t hash, std::span<Place, kMaxRivals> rivals) const noexcept {
    std::size_t count = 0;
    for (const Place place : {first_place(hash), first_place(hash) + 1})
      if (occupied(place)) rivals[count++] = place;
    return count;
  }

  unsigned probes(std::uint64_t, const Key&) const noexcept { return 1; }

  bool occupied(Place place) const noexcept { return entries_[place].key.present(); }
  const Key& key(Place place) const noexcept { return entries_[place].key; }
  Value& value(Place place) noexcept { return entries_[place].value; }
  const Value& value(Place place) const noexcept { return entries_[place].value; }
  std::size_t places() const noexcept { return entries_.size(); }
  std::size_t size() const noexcept { return size_; }

 private:
  struct Entry {
    Key key;
    Value value;
  };

  static std::size_t buckets_for(std::size_t entries) noexcept {
    return std::bit_ceil(std::max<std::size_t>(2, entries));
  }
  Place first_place(std::uint64_t hash) const noexcept { return static_cast<Place>(hash >> shift_) * 2; }

  HugeBuffer<Entry> entries_;
  unsigned shift_;
  std::size_t size_ = 0;
};

}  // namespace parshall
