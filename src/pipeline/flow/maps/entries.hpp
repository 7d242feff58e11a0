// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/huge_buffer.hpp"
#include "pipeline/flow/maps/map.hpp"

namespace parshall {

template <MapKey K, class V>
struct MapEntry {
  K key;
  V value;
};

/// Entries of a map in one array, by place. An entry is in use if its key is present.
template <class Entry>
class MapEntries {
 public:
  using Key = decltype(Entry::key);
  using Value = decltype(Entry::value);

  bool occupied(Place place) const noexcept { return entries_[place].key.present(); }
  const Key& key(Place place) const noexcept { return entries_[place].key; }
  Value& value(Place place) noexcept { return entries_[place].value; }
  const Value& value(Place place) const noexcept { return entries_[place].value; }
  std::size_t places() const noexcept { return entries_.size(); }
  std::size_t size() const noexcept { return size_; }

  /// Commits the memory that every lookup touches.
  void populate() noexcept { entries_.populate(); }

 protected:
  explicit MapEntries(std::size_t places) : entries_(places) {}

  void put(Place place, const Entry& entry) noexcept {
    entries_[place] = entry;
    ++size_;
  }
  void clear(Place place) noexcept {
    entries_[place].key = {};
    --size_;
  }

  HugeBuffer<Entry> entries_;

 private:
  std::size_t size_ = 0;
};

}  // namespace parshall
