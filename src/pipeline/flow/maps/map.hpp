// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace parshall {

/// Index of an entry in a map. A map has fewer than 2^31 places.
using Place = std::uint32_t;
inline constexpr Place kNowhere = ~Place{0};

/// Most rivals that a map may name.
inline constexpr std::size_t kMaxRivals = 16;

/// Ignores moves, for callers that store nothing by place.
struct IgnoreMoves {
  void operator()(Place, Place) const noexcept {}
};

/// Key that knows whether it is present, so that no value is reserved for "empty". A default-constructed key is absent.
template <class K>
concept MapKey = std::is_trivially_copyable_v<K> && std::equality_comparable<K> && requires(const K& key) {
  { key.present() }
  noexcept->std::same_as<bool>;
};

/// Recomputes a key's hash when entries have to move. It equals the hash that the map was given for the key.
template <class H, class K>
concept KeyHasher = requires(const H& hasher, const K& key) {
  { hasher(key) }
  noexcept->std::same_as<std::uint64_t>;
};

/// Hash map of fixed memory. Its entries have places by which other arrays can be indexed.
///
/// - Map(entries, hasher), entries > 0, has room for that many at its own design load. It has places_for(entries)
///   places. It may ignore the hasher.
/// - insert() is for keys that find() does not find. It returns kNowhere and changes nothing if there is no room for
///   this hash.
/// - insert() and erase() call moved(from, to) after an entry went to another place, only if kMoves. In the order of
///   the calls, no entry is overwritten.
/// - rivals() writes the places of entries; erasing any of them makes room for this hash. It writes none if any entry
///   would do. It may write some even if there is room.
/// - populate() commits the memory that every lookup touches.
/// - probes() counts the buckets, index elements or list links that find() visits one after the other. Those compared
///   together count once.
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

/// Map with the name that users know it by, for any key, value and hasher.
template <class N>
concept NamedMap = requires {
  { N::kName } -> std::convertible_to<std::string_view>;
  { N::kHelp } -> std::convertible_to<std::string_view>;
};

}  // namespace parshall
