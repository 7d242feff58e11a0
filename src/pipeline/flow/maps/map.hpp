// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace parshall {

/// Where an entry of a map is. A map has fewer than 2^31 places.
using Place = std::uint32_t;
inline constexpr Place kNowhere = ~Place{0};

/// Rivals a map names at most.
inline constexpr std::size_t kMaxRivals = 16;

/// For maps whose caller keeps nothing by place.
struct IgnoreMoves {
  void operator()(Place, Place) const noexcept {}
};

/// A key whose type tells a key from none: no value is reserved to mean "empty". One just constructed is none.
template <class K>
concept MapKey = std::is_trivially_copyable_v<K> && std::equality_comparable<K> && requires(const K& key) {
  { key.present() }
  noexcept->std::same_as<bool>;
};

/// Gives a key's hash again: for entries that have to move. A map's first argument is always the same key's hash.
template <class H, class K>
concept KeyHasher = requires(const H& hasher, const K& key) {
  { hasher(key) }
  noexcept->std::same_as<std::uint64_t>;
};

/// A hash map of fixed memory, whose entries have places that arrays beside it can go by.
///
/// Map(entries, hasher), entries > 0, has room for that many at the load it is made for, which is its own choice, and
/// places_for(entries) places; it may do without the hasher. insert() is for keys that find() does not find; it returns
/// kNowhere, and changes nothing, where the structure has no room for this hash. It and erase() call moved(from, to)
/// after an entry has gone to another place, in an order in which nothing is overwritten: only where kMoves. rivals()
/// writes the places of entries of which any, erased, makes room for this hash; none where any entry does; some where
/// there is room do no harm. populate() commits the memory that every lookup touches. probes() counts the buckets,
/// index elements or list links that find() looks at, one after the other: what one comparison looks at together counts
/// once.
template <class M>
concept FlowMap = MapKey<typename M::Key> && std::is_trivially_copyable_v<typename M::Value> &&
    requires(M map, const M& view, std::uint64_t hash, const typename M::Key& key, Place place, IgnoreMoves moved,
             std::span<Place, kMaxRivals> rivals, std::size_t entries) {
  { M::kMoves } -> std::convertible_to<bool>;
  { M::places_for(entries) }
  noexcept->std::same_as<std::size_t>;
  { M::memory_bytes(entries) }
  noexcept->std::same_as<std::size_t>;
  { map.populate() }
  noexcept->std::same_as<void>;
  { view.prefetch(hash) }
  noexcept->std::same_as<void>;
  { view.find(hash, key) }
  noexcept->std::same_as<Place>;
  { map.insert(hash, key, moved) }
  noexcept->std::same_as<Place>;
  { map.erase(place, moved) }
  noexcept->std::same_as<void>;
  { view.rivals(hash, rivals) }
  noexcept->std::same_as<std::size_t>;
  { view.probes(hash, key) }
  noexcept->std::same_as<unsigned>;
  { view.occupied(place) }
  noexcept->std::same_as<bool>;
  { view.key(place) }
  noexcept->std::same_as<const typename M::Key&>;
  { map.value(place) }
  noexcept->std::same_as<typename M::Value&>;
  { view.places() }
  noexcept->std::same_as<std::size_t>;
  { view.size() }
  noexcept->std::same_as<std::size_t>;
};

/// A map by the name users know it by, for any key, value and hasher.
template <class N>
concept NamedMap = requires {
  { N::kName } -> std::convertible_to<std::string_view>;
  { N::kHelp } -> std::convertible_to<std::string_view>;
};

}  // namespace parshall
