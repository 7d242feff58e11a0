// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "pipeline/flow/maps/map.hpp"

namespace parshall {

/// Size of a sketch.
struct SketchSize {
  std::size_t width = 2;  ///< counters per row, rounded up to a power of two; in Space-Saving: listed keys
  unsigned rows = 1;      ///< at most kMaxRows

  static constexpr std::size_t kMaxWidth = std::size_t{1} << 29;  ///< limit; larger widths are reduced to it
  static constexpr unsigned kMaxRows = 8;

  constexpr bool operator==(const SketchSize&) const = default;
};

/// Error bound for a key that was chosen without knowing the seeds.
struct ErrorBound {
  std::uint64_t over;          ///< estimate - truth is at most this
  std::uint64_t under;         ///< truth - estimate is at most this
  double failure_probability;  ///< probability that the bounds do not hold for a key
};

/// Counts packets by key in memory of fixed size.
///
/// C(size, seed) has all its memory. `hash` is a keyed 64-bit hash of the key, always the same for the same key. add()
/// counts one packet and returns the new estimate.
template <class C>
concept KeyCounter = MapKey<typename C::Key> && std::constructible_from<C, SketchSize, std::uint64_t> &&
    requires(C counter, const C& view, std::uint64_t hash, const typename C::Key& key, SketchSize size) {
  { C::memory_bytes(size) }
  noexcept->std::same_as<std::size_t>;
  { view.prefetch(hash) }
  noexcept->std::same_as<void>;
  { counter.add(hash, key) } -> std::same_as<std::uint64_t>;
  { view.estimate(hash, key) }
  noexcept->std::same_as<std::uint64_t>;
};

/// Counter for any number of keys that knows its error.
///
/// Counters saturate and never wrap; error_bound() accounts for that. error_bound(p) refers to the packets so far; its
/// failure_probability is p if the structure reaches that. size_for(epsilon, p) returns a size whose bound is at most
/// epsilon of the packets; nullopt if that would be larger than allowed.
template <class S>
concept Sketch = KeyCounter<S> &&
    requires(S sketch, const S& view, std::uint64_t hash, const typename S::Key& key, double share) {
  { S::size_for(share, share) }
  noexcept->std::same_as<std::optional<SketchSize>>;
  { sketch.add(hash, key) }
  noexcept->std::same_as<std::uint64_t>;
  { view.error_bound(share) }
  noexcept->std::same_as<ErrorBound>;
  { view.packets() }
  noexcept->std::same_as<std::uint64_t>;
};

/// Sketch to which another one of the same size and seed can be added, as if one had counted all packets of both.
/// merge() returns false and changes nothing if they differ.
template <class S>
concept MergeableSketch = Sketch<S> && requires(S into, const S& from) {
  { into.merge(from) }
  noexcept->std::same_as<bool>;
};

/// A key that a sketch lists, with its count.
template <MapKey K>
struct HeavyKey {
  K key;
  std::uint64_t packets;
  std::uint64_t over;  ///< largest possible excess of `packets`
};

/// Sketch that lists the keys with most packets: visit(do) calls do(HeavyKey) for each, in no order.
template <class S>
concept RankingSketch = Sketch<S> && requires(const S& view) {
  {view.visit([](const HeavyKey<typename S::Key>&) {})};
};

namespace sketches {

template <std::unsigned_integral Counter>
inline constexpr Counter kFull = std::numeric_limits<Counter>::max();

/// Increments the counter unless it is full.
template <std::unsigned_integral Counter>
[[gnu::always_inline]] inline Counter increment(Counter& counter) noexcept {
  return counter = static_cast<Counter>(counter + (counter != kFull<Counter>));
}

template <std::unsigned_integral Counter>
Counter sum(Counter a, Counter b) noexcept {
  return b > kFull<Counter> - a ? kFull<Counter> : static_cast<Counter>(a + b);
}

/// Returns the most that full counters hide; a key has at most all packets.
template <std::unsigned_integral Counter>
std::uint64_t beyond_full(std::uint64_t packets) noexcept {
  return packets > kFull<Counter> ? packets - kFull<Counter> : 0;
}

inline std::size_t row_width(std::size_t width) noexcept {
  return std::bit_ceil(std::clamp<std::size_t>(width, 2, SketchSize::kMaxWidth));
}
inline unsigned row_bits(std::size_t width) noexcept {
  return static_cast<unsigned>(std::countr_zero(row_width(width)));
}

inline std::size_t rows_of(SketchSize size) noexcept { return std::clamp(size.rows, 1u, SketchSize::kMaxRows); }

/// Returns the number of keys in a sketch's list: an eighth of the width's.
inline std::size_t listed_of(SketchSize size) noexcept { return std::max<std::size_t>(1, row_width(size.width) / 8); }

/// Rounds down, to at most `most`.
inline std::uint64_t whole(double packets, std::uint64_t most) noexcept {
  return packets < static_cast<double>(most) ? static_cast<std::uint64_t>(packets) : most;
}

/// Returns the size of `rows` rows of at least that width; nullopt if the width is invalid or too large.
inline std::optional<SketchSize> size_of_width(double width, unsigned rows) noexcept {
  if (!(width >= 0 && width <= static_cast<double>(SketchSize::kMaxWidth))) return std::nullopt;
  return SketchSize{row_width(static_cast<std::size_t>(std::ceil(width))), rows};
}

}  // namespace sketches
}  // namespace parshall
