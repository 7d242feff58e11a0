// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <utility>

#include "base/huge_buffer.hpp"
#include "pipeline/flow/maps/hashed_key.hpp"
#include "pipeline/flow/maps/linear_probing.hpp"
#include "pipeline/measure/sketches/sketch.hpp"

namespace parshall {

/// Keys with counts, found by hash; the key with the least count is always known. Counts only grow.
///
/// Shape: a binary heap of counts, the least first, and a map from keys to places in it; each knows the other's place.
/// Cost:  a lookup in the map; of log2(keys) levels, those that a count sinks, with a write to the map for each.
template <MapKey K>
class KeyHeap {
 public:
  explicit KeyHeap(std::size_t keys) : nodes_(keys), index_(keys, {}) {}

  static std::size_t memory_bytes(std::size_t keys) noexcept { return keys * sizeof(Node) + Index::memory_bytes(keys); }

  void prefetch(std::uint64_t hash) const noexcept { index_.prefetch(hash); }

  /// Returns the key's place, valid until the heap changes; kNowhere if the key is absent.
  Place find(std::uint64_t hash, const K& key) const noexcept {
    const Place place = index_.find(hash, {key, hash});
    return place == kNowhere ? kNowhere : index_.value(place);
  }

  bool full() const noexcept { return size_ == nodes_.size(); }
  std::size_t size() const noexcept { return size_; }
  std::uint64_t count(Place at) const noexcept { return nodes_[at].count; }
  std::uint64_t least() const noexcept { return nodes_[0].count; }  ///< requires a heap that is not empty

  /// Raises a count; `count` must not be smaller than before.
  void raise(Place at, std::uint64_t count) noexcept {
    nodes_[at].count = count;
    sink(at);
  }

  /// Inserts an absent key. The heap must not be full.
  void insert(std::uint64_t hash, const K& key, std::uint64_t count) noexcept {
    const auto last = static_cast<Place>(size_++);
    nodes_[last] = {count, 0, index_.insert(hash, {key, hash}, Moved{this})};
    index_.value(nodes_[last].in_index) = last;
    rise(last);
  }

  /// Replaces the key with the least count by an absent key, whose count must not be smaller.
  void replace_least(std::uint64_t hash, const K& key, std::uint64_t count, std::uint64_t over) noexcept {
    index_.erase(nodes_[0].in_index, Moved{this});
    nodes_[0] = {count, over, index_.insert(hash, {key, hash}, Moved{this})};
    index_.value(nodes_[0].in_index) = 0;
    sink(0);
  }

  template <class Do>
  void visit(Do&& run) const {
    for (std::size_t i = 0; i < size_; ++i)
      run(HeavyKey<K>{index_.key(nodes_[i].in_index).key, nodes_[i].count, nodes_[i].over});
  }

 private:
  using Index = LinearProbing<HashedKey<K>, Place, KeptHash>;

  struct Node {
    std::uint64_t count, over;
    Place in_index;
  };
  struct Moved {
    KeyHeap* heap;
    void operator()(Place, Place to) const noexcept { heap->nodes_[heap->index_.value(to)].in_index = to; }
  };

  void put(Place at, const Node& node) noexcept {
    nodes_[at] = node;
    index_.value(node.in_index) = at;
  }

  /// Moves a node down. A node that stays in place, as most do, is not written again.
  void sink(Place at) noexcept {
    const Place before = at;
    const Node node = nodes_[at];
    for (std::size_t child; (child = 2 * std::size_t{at} + 1) < size_; at = static_cast<Place>(child)) {
      if (child + 1 < size_ && nodes_[child + 1].count < nodes_[child].count) ++child;
      if (nodes_[child].count >= node.count) break;
      put(at, nodes_[child]);
    }
    if (at != before) put(at, node);
  }

  void rise(Place at) noexcept {
    const Node node = nodes_[at];
    for (; at != 0 && nodes_[(at - 1) / 2].count > node.count; at = (at - 1) / 2) put(at, nodes_[(at - 1) / 2]);
    put(at, node);
  }

  HugeBuffer<Node> nodes_;
  Index index_;
  std::size_t size_ = 0;
};

}  // namespace parshall
