// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"
#include "pipeline/flow/identity.hpp"

namespace parshall {

/// Dense table of a window's keys with a value each. It can be iterated, and cleared at once.
///
/// Shape: an index, half full at most, of 8 bytes; key, tag and value in a separate array. Memory is mapped by the
///        constructor and committed as keys come.
/// Full:  find_or_add() returns null; drop() makes room.
template <class Value>
class KeyTable {
 public:
  struct Entry {
    FlowKey key;
    std::uint32_t tag;
    Value value;
  };

  KeyTable(std::size_t capacity, std::uint64_t seed)
      : capacity_(capacity),
        hash_(KeyFields::five_tuple, Identity::exact, seed),
        index_(index_for(capacity)),
        entries_(capacity, /*huge_pages=*/false) {}

  static std::size_t memory_bytes(std::size_t capacity) noexcept {
    return index_for(capacity) * sizeof(Element) + capacity * sizeof(Entry);
  }

  std::uint64_t hash(const FlowKey& key) const noexcept { return hash_.hash(key); }
  void prefetch(std::uint64_t hash) const noexcept { prefetch_line(&index_[home(tag_of(hash))]); }

  const Value* find(std::uint64_t hash, const FlowKey& key) const noexcept {
    const std::uint32_t tag = tag_of(hash);
    for (std::size_t at = home(tag); index_[at].after_place != 0; at = next(at))
      if (index_[at].tag == tag && entries_[index_[at].after_place - 1].key == key)
        return &entries_[index_[at].after_place - 1].value;
    return nullptr;
  }
  Value* find(std::uint64_t hash, const FlowKey& key) noexcept {
    return const_cast<Value*>(std::as_const(*this).find(hash, key));
  }

  /// Returns the key's value, adding the key if it is absent; null if there is no room for a new key.
  Value* find_or_add(std::uint64_t hash, const FlowKey& key) noexcept {
    if (Value* const found = find(hash, key)) return found;
    return size_ == capacity_ ? nullptr : &add(hash, key);
  }

  /// Adds an absent key; requires room.
  Value& add(std::uint64_t hash, const FlowKey& key) noexcept {
    const std::uint32_t tag = tag_of(hash);
    entries_[size_] = {key, tag, Value()};
    put(tag, static_cast<std::uint32_t>(++size_));
    return entries_[size_ - 1].value;
  }

  /// Returns the value of a key with this hash, or null.
  const Value* find_hash(std::uint64_t hash) const noexcept {
    const std::uint32_t tag = tag_of(hash);
    for (std::size_t at = home(tag); index_[at].after_place != 0; at = next(at)) {
      const Entry& entry = entries_[index_[at].after_place - 1];
      if (index_[at].tag == tag && this->hash(entry.key) == hash) return &entry.value;
    }
    return nullptr;
  }

  std::span<Entry> entries() noexcept { return {entries_.data(), size_}; }
  std::span<const Entry> entries() const noexcept { return {entries_.data(), size_}; }
  std::size_t size() const noexcept { return size_; }
  std::size_t capacity() const noexcept { return capacity_; }

  /// Removes the entries for which `unwanted(entry)`.
  template <class Unwanted>
  void drop(Unwanted unwanted) noexcept {
    clear_index();
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      if (unwanted(entries_[i])) continue;
      entries_[kept++] = entries_[i];
      put(entries_[kept - 1].tag, static_cast<std::uint32_t>(kept));
    }
    size_ = kept;
  }
  /// What drop_half() removed.
  struct Dropped {
    std::size_t entries = 0;
    std::uint64_t heaviest = 0;
  };
  /// Removes the half of the entries with the smallest `weight(entry)`, and all others of the same weight.
  template <class Weight>
  Dropped drop_half(Weight weight) {
    std::vector<std::uint64_t> weights;
    weights.reserve(size_);
    for (const Entry& entry : entries()) weights.push_back(weight(entry));
    if (weights.empty()) return {};
    const auto middle = weights.begin() + static_cast<std::ptrdiff_t>((weights.size() - 1) / 2);
    std::ranges::nth_element(weights, middle);
    const std::size_t before = size_;
    drop([&](const Entry& entry) { return weight(entry) <= *middle; });
    return {before - size_, *middle};
  }
  void clear() noexcept {
    clear_index();
    size_ = 0;
  }

 private:
  struct Element {
    std::uint32_t tag;
    std::uint32_t after_place;  ///< place + 1, so that untouched memory means "none"
  };

  static std::size_t index_for(std::size_t capacity) noexcept {
    return std::bit_ceil(std::max<std::size_t>(2, 2 * capacity));
  }
  static std::uint32_t tag_of(std::uint64_t hash) noexcept { return static_cast<std::uint32_t>(hash >> 32); }
  std::size_t home(std::uint32_t tag) const noexcept {
    return (std::uint64_t{tag} << 32) >> (64 - std::countr_zero(index_.size()));
  }
  std::size_t next(std::size_t at) const noexcept { return (at + 1) & (index_.size() - 1); }

  void put(std::uint32_t tag, std::uint32_t after_place) noexcept {
    std::size_t at = home(tag);
    while (index_[at].after_place != 0) at = next(at);
    index_[at] = {tag, after_place};
  }

  /// Clears element by element while that is less work than clearing the whole index.
  void clear_index() noexcept {
    if (size_ > index_.size() / 16) {
      std::fill_n(index_.data(), index_.size(), Element{});
      return;
    }
    for (std::size_t i = 0; i < size_; ++i) {
      std::size_t at = home(entries_[i].tag);
      while (index_[at].after_place != i + 1) at = next(at);
      index_[at] = {};
    }
  }

  std::size_t capacity_, size_ = 0;
  FlowIdentity hash_;
  HugeBuffer<Element> index_;
  HugeBuffer<Entry> entries_;
};

}  // namespace parshall
