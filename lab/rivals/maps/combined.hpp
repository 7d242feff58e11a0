// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <bit>

#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"
#include "pipeline/flow/maps/free_list.hpp"

namespace parshall {

/// FloWatcher's combined hash: buckets of two inline entries, and a linked list per bucket for the others.
///
/// Shape:  bucket = two entries of key and value, and the list's head; places: those of the buckets, then those of the
///         lists. One to two buckets per entry requested, and as many list entries.
/// Erase:  leaves a hole in a bucket, which the next insertion fills.
/// Full:   when every entry of the bucket and of the lists is in use.
/// Source: Zhang et al., "FloWatcher-DPDK", IEEE TNSM 16(3), 2019, section III.
template <MapKey K, class V, KeyHasher<K> Hasher>
class Combined {
 public:
  using Key = K;
  using Value = V;
  static constexpr bool kMoves = false;

  Combined(std::size_t entries, Hasher hasher)
      : buckets_(buckets_for(entries)),
        listed_(entries),
        free_(entries),
        shift_(64 - static_cast<unsigned>(std::countr_zero(buckets_.size()))),
        hasher_(hasher) {}

  static std::size_t places_for(std::size_t entries) noexcept { return kInline * buckets_for(entries) + entries; }
  static std::size_t memory_bytes(std::size_t entries) noexcept {
    return buckets_for(entries) * sizeof(Bucket) + entries * (sizeof(Listed) + sizeof(Place));
  }

  void populate() noexcept { buckets_.populate(); }

  void prefetch(std::uint64_t hash) const noexcept { prefetch_object<sizeof(Bucket)>(&buckets_[bucket(hash)]); }

  Place find(std::uint64_t hash, const Key& key) const noexcept {
    const std::size_t b = bucket(hash);
    for (Place i = 0; i < kInline; ++i)
      if (buckets_[b].entries[i].key == key) return place_of(b, i);
    Place at = buckets_[b].list - 1;
    while (at != kNowhere && !(listed_[at].entry.key == key)) at = listed_[at].next - 1;
    return at == kNowhere ? kNowhere : place_of_listed(at);
  }

  template <class Moved>
  Place insert(std::uint64_t hash, const Key& key, Moved&&) noexcept {
    const std::size_t b = bucket(hash);
    for (Place i = 0; i < kInline; ++i) {
      if (buckets_[b].entries[i].key.present()) continue;
      buckets_[b].entries[i] = {key, {}};
      ++size_;
      return place_of(b, i);
    }
    const Place at = free_.take();
    if (at == kNowhere) return kNowhere;
    listed_[at] = {{key, {}}, buckets_[b].list};
    buckets_[b].list = at + 1;
    ++size_;
    return place_of_listed(at);
  }

  template <class Moved>
  void erase(Place place, Moved&&) noexcept {
    --size_;
    if (place < first_listed()) {
      entry(place).key = {};
      return;
    }
    const Place at = place - first_listed();
    Place* link = &buckets_[bucket(hasher_(listed_[at].entry.key))].list;
    while (*link - 1 != at) link = &listed_[*link - 1].next;
    *link = listed_[at].next;
    listed_[at].entry.key = {};
    free_.give_back(at);
  }

  std::size_t rivals(std::uint64_t hash, std::span<Place, kMaxRivals> rivals) const noexcept {
    std::size_t count = 0;
    const std::size_t b = bucket(hash);
    for (Place i = 0; i < kInline; ++i)
      if (buckets_[b].entries[i].key.present()) rivals[count++] = place_of(b, i);
    for (Place at = buckets_[b].list - 1; at != kNowhere && count < kMaxRivals; at = listed_[at].next - 1)
      rivals[count++] = place_of_listed(at);
    return count;
  }

  unsigned probes(std::uint64_t hash, const Key& key) const noexcept {
    const Place found = find(hash, key);
    unsigned count = 1;
    if (found < first_listed()) return count;
    for (Place at = buckets_[bucket(hash)].list - 1; at != kNowhere; at = listed_[at].next - 1) {
      ++count;
      if (place_of_listed(at) == found) break;
    }
    return count;
  }

  bool occupied(Place place) const noexcept { return entry(place).key.present(); }
  const Key& key(Place place) const noexcept { return entry(place).key; }
  Value& value(Place place) noexcept { return entry(place).value; }
  const Value& value(Place place) const noexcept { return entry(place).value; }
  std::size_t places() const noexcept { return first_listed() + listed_.size(); }
  std::size_t size() const noexcept { return size_; }

 private:
  static constexpr Place kInline = 2;

  struct Entry {
    Key key;
    Value value;
  };
  struct Bucket {
    Entry entries[kInline];
    Place list;  ///< index in listed_, plus 1, so that untouched memory means "none"
  };
  struct Listed {
    Entry entry;
    Place next;  ///< index plus 1
  };

  static std::size_t buckets_for(std::size_t entries) noexcept {
    return std::bit_ceil(std::max<std::size_t>(2, entries));
  }
  std::size_t bucket(std::uint64_t hash) const noexcept { return hash >> shift_; }
  Place first_listed() const noexcept { return static_cast<Place>(kInline * buckets_.size()); }
  static Place place_of(std::size_t bucket, Place i) noexcept { return static_cast<Place>(bucket) * kInline + i; }
  Place place_of_listed(Place at) const noexcept { return first_listed() + at; }
  Entry& entry(Place place) noexcept {
    return place < first_listed() ? buckets_[place / kInline].entries[place % kInline]
                                  : listed_[place - first_listed()].entry;
  }
  const Entry& entry(Place place) const noexcept { return const_cast<Combined*>(this)->entry(place); }

  HugeBuffer<Bucket> buckets_;
  HugeBuffer<Listed> listed_;
  FreeList free_;
  unsigned shift_;
  Hasher hasher_;
  std::size_t size_ = 0;
};

struct CombinedMap {
  static constexpr std::string_view kName = "combined",
                                    kHelp = "FloWatcher's: buckets of two entries, followed by a list";
  template <class K, class V, class H>
  using Map = Combined<K, V, H>;
};

}  // namespace parshall
