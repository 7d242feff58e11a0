// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"
#include "pipeline/measure/sketches/sketch.hpp"

namespace parshall::lab {

/// Effect on a count when a packet of another key comes to it.
enum class OnOtherKey : std::uint8_t { add, replace };

/// A count array whose places store the key of their last packet, so that it can name what it counted.
///
/// Shape:  one array of keys and counts with a place for each key; a key's place is given by its hash's top bits.
/// Cost:   a cache line, and writing a key for each packet.
/// Error:  if other keys add, no key's count is too low while the place is its own. If other keys replace, no count is
///         too high, and all packets before the last one of another key are lost. A key that is not stored in its place
///         has no count.
/// Source: the "count array" of Alipourfard et al., SOSR 2018, section 3.1, which describes it both as adding and as
///         overwriting.
template <MapKey K, OnOtherKey Policy>
class KeyedCounts {
 public:
  using Key = K;

  KeyedCounts(SketchSize size, std::uint64_t /*seed*/)
      : places_(sketches::row_width(size.width)), shift_(64 - sketches::row_bits(size.width)) {}

  static std::size_t memory_bytes(SketchSize size) noexcept { return sketches::row_width(size.width) * sizeof(Entry); }

  void prefetch(std::uint64_t hash) const noexcept { prefetch_object<sizeof(Entry)>(&places_[hash >> shift_]); }

  std::uint64_t add(std::uint64_t hash, const Key& key) noexcept {
    Entry& entry = places_[hash >> shift_];
    if (Policy == OnOtherKey::replace && !(entry.key == key)) entry.packets = 0;
    entry.key = key;
    return ++entry.packets;
  }

  std::uint64_t estimate(std::uint64_t hash, const Key& key) const noexcept {
    const Entry& entry = places_[hash >> shift_];
    return entry.key == key ? entry.packets : 0;
  }

 private:
  struct Entry {
    Key key;
    std::uint64_t packets = 0;
  };

  HugeBuffer<Entry> places_;
  unsigned shift_;
};

}  // namespace parshall::lab
