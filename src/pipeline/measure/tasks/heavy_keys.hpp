// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/measure/tasks/key_table.hpp"

namespace parshall {

/// Keys of a window with a counter each. When there is no room for another key, the lightest half is dropped, so a
/// flood of keys cannot hide a key with a large count.
///
/// Shape: a KeyTable, and 16 bytes a key to find the median.
/// Cost:  per drop, a pass over the keys; half of them are new before the next drop.
/// Error: a counter lacks at most its `before`, which is no more than most_missing(). With N things counted in all,
///        drops of half of the keys keep that at most 2 N / capacity, for any traffic: each drop raises it by the
///        median of the counters' excess over it, and so takes as much from half of them. drop_up_to() raises it by its
///        limit.
/// Source: Misra, Gries, "Finding repeated elements", Science of Computer Programming 2, 1982; the median in place of
///         the least: Anderson et al., "A high-performance algorithm for identifying frequent items in data streams",
///         IMC 2017, section 2.3.
template <class Counter>
class HeavyKeys {
 public:
  struct Value {
    Counter counter;
    double before = 0;  ///< upper bound for what the key had when it was last dropped
  };
  using Table = KeyTable<Value>;

  HeavyKeys(std::size_t capacity, std::uint64_t seed) : table_(capacity, seed) {
    above_.reserve(capacity);
    sorted_.reserve(capacity);
  }

  static std::size_t memory_bytes(std::size_t capacity) noexcept {
    return Table::memory_bytes(capacity) + 2 * capacity * sizeof(double);
  }

  std::uint64_t hash(const FlowKey& key) const noexcept { return table_.hash(key); }
  std::size_t capacity() const noexcept { return table_.capacity(); }
  bool is_full() const noexcept { return table_.size() == table_.capacity(); }
  std::span<typename Table::Entry> entries() noexcept { return table_.entries(); }
  std::span<const typename Table::Entry> entries() const noexcept { return table_.entries(); }
  const Table& table() const noexcept { return table_; }

  /// Returns the key's value, adding the key if it is absent; null if there is no room for a new key.
  Value* find_or_add(std::uint64_t hash, const FlowKey& key) noexcept {
    const std::size_t before = table_.size();
    Value* const value = table_.find_or_add(hash, key);
    if (table_.size() != before) value->before = most_missing_;
    return value;
  }

  /// Returns how much more than most_missing() the key would lack if the next drop removed it.
  double above(const Value& value) const noexcept { return most_of(value.counter) + value.before - most_missing_; }

  /// Drops the lightest half, and all keys that are equally light.
  void drop_half() noexcept {
    list_above();
    sorted_ = above_;
    const auto middle = sorted_.begin() + static_cast<std::ptrdiff_t>((sorted_.size() - 1) / 2);
    std::ranges::nth_element(sorted_, middle);
    drop_listed(*middle);
  }

  /// Drops keys that exceed most_missing() by at most `limit`.
  void drop_up_to(double limit) noexcept {
    list_above();
    drop_listed(limit);
  }

  double most_missing() const noexcept { return most_missing_; }
  /// Returns the number of dropped keys; a key counts again each time that it is dropped.
  std::uint64_t dropped_keys() const noexcept { return dropped_keys_; }

  void clear() noexcept {
    table_.clear();
    most_missing_ = 0;
    dropped_keys_ = 0;
  }

 private:
  /// Returns an upper bound of what the counter stands for.
  static double most_of(const Counter& counter) noexcept {
    if constexpr (requires { counter.most(); })
      return counter.most();
    else
      return counter.estimate();
  }

  void list_above() noexcept {
    above_.clear();
    for (const auto& entry : table_.entries()) above_.push_back(above(entry.value));
  }

  void drop_listed(double limit) noexcept {
    const std::size_t before = table_.size();
    table_.drop([&, at = above_.begin()](const auto&) mutable { return *at++ <= limit; });
    dropped_keys_ += before - table_.size();
    most_missing_ += limit;
  }

  Table table_;
  std::vector<double> above_, sorted_;
  double most_missing_ = 0;
  std::uint64_t dropped_keys_ = 0;
};

}  // namespace parshall
