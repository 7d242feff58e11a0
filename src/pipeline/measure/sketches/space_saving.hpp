// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "pipeline/measure/sketches/key_heap.hpp"
#include "pipeline/measure/sketches/sketch.hpp"

namespace parshall {

/// List of k keys. A new key replaces the one with the fewest packets and takes over its count.
///
/// Shape:  a heap of k counts, and an index of the keys.
/// Cost:   a lookup, and up to log2(k) levels of the heap for each packet.
/// Error:  always: the counts add up to the N packets; a listed key has from count - over to count packets. `over` is
///         at most the least count, which is at most N / k. Every key of more than N / k packets is listed. A key that
///         is not listed is estimated at the least count, which it cannot exceed.
/// Source: Metwally, Agrawal, El Abbadi, "Efficient computation of frequent and top-k elements in data streams", ICDT
///         2005; on a heap as in Alipourfard et al., SOSR 2018.
template <MapKey K>
class SpaceSaving {
 public:
  using Key = K;

  /// Ignores the seed, as the structure is deterministic. The seeded hash protects the index against crafted keys.
  explicit SpaceSaving(SketchSize size, std::uint64_t /*seed*/ = 0) : heap_(keys_of(size)), keys_(keys_of(size)) {}

  static std::optional<SketchSize> size_for(double epsilon, double) noexcept {
    const double keys = std::ceil(1 / epsilon);
    if (!(keys >= 1 && keys <= static_cast<double>(SketchSize::kMaxWidth))) return std::nullopt;
    return SketchSize{static_cast<std::size_t>(keys), 1};
  }
  static std::size_t memory_bytes(SketchSize size) noexcept { return KeyHeap<K>::memory_bytes(keys_of(size)); }

  void prefetch(std::uint64_t hash) const noexcept { heap_.prefetch(hash); }

  std::uint64_t add(std::uint64_t hash, const Key& key) noexcept {
    ++packets_;
    const Place at = heap_.find(hash, key);
    const std::uint64_t before = at == kNowhere ? least() : heap_.count(at);
    if (at != kNowhere)
      heap_.raise(at, before + 1);
    else if (!heap_.full())
      heap_.insert(hash, key, 1);
    else
      heap_.replace_least(hash, key, before + 1, before);
    return before + 1;
  }

  std::uint64_t estimate(std::uint64_t hash, const Key& key) const noexcept {
    const Place at = heap_.find(hash, key);
    return at == kNowhere ? least() : heap_.count(at);
  }

  ErrorBound error_bound(double) const noexcept { return {least(), 0, 0}; }

  template <class Do>
  void visit(Do&& run) const {
    heap_.visit(run);
  }

  std::uint64_t packets() const noexcept { return packets_; }
  std::size_t size() const noexcept { return heap_.size(); }
  std::size_t places() const noexcept { return keys_; }

 private:
  static std::size_t keys_of(SketchSize size) noexcept {
    return std::clamp<std::size_t>(size.width, 1, SketchSize::kMaxWidth);
  }
  /// Returns the most packets that a key may have had before it was listed.
  std::uint64_t least() const noexcept { return heap_.full() ? heap_.least() : 0; }

  KeyHeap<K> heap_;
  std::size_t keys_;
  std::uint64_t packets_ = 0;
};

}  // namespace parshall
