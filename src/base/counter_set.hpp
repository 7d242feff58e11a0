// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace parshall {

/// Says how the values of one counter from several workers are combined.
enum class Summing : std::uint8_t { add, least, most };

/// Table of a counter enumeration. It has one line per name, in order, with `id`, `name`, `unit`, `help`, `summing` and
/// `may_be_absent`.
template <class Name>
inline constexpr std::array<int, 0> kCounterTable{};

/// Holds one number for each name of an enumeration that has a table. A counter that may be absent stays absent until
/// it is set. Its 0 is then a real 0.
///
/// Shape:  8 bytes a name, and 8.
/// Merge:  +=, as the table says. A counter that only some workers know becomes a lower bound for all.
template <class Name>
class CounterSet {
 public:
  static constexpr const auto& kTable = kCounterTable<Name>;
  static constexpr std::size_t kSize = std::size(kTable);
  static_assert(kSize <= 64, "bits of known_");

  constexpr CounterSet() noexcept {
    for (std::size_t i = 0; i < kSize; ++i)
      if (kTable[i].summing == Summing::least) values_[i] = ~std::uint64_t{0};
  }

  /// Returns the counter, or 0 where it is absent.
  constexpr std::uint64_t operator[](Name name) const noexcept { return values_[index(name)]; }

  constexpr bool knows(Name name) const noexcept {
    return !kTable[index(name)].may_be_absent || (known_ & bit(name)) != 0;
  }
  constexpr std::optional<std::uint64_t> known(Name name) const noexcept {
    return knows(name) ? std::optional((*this)[name]) : std::nullopt;
  }

  constexpr void set(Name name, std::uint64_t value) noexcept {
    values_[index(name)] = value;
    if (kTable[index(name)].may_be_absent) known_ |= bit(name);
  }
  constexpr void set(Name name, std::optional<std::uint64_t> value) noexcept {
    values_[index(name)] = value.value_or(0);
    known_ = value && kTable[index(name)].may_be_absent ? known_ | bit(name) : known_ & ~bit(name);
  }

  /// Combines `value` with the counter as its Summing says: added, or kept as the new smallest or largest.
  constexpr void add(Name name, std::uint64_t value) noexcept {
    std::uint64_t& all = values_[index(name)];
    switch (kTable[index(name)].summing) {
      case Summing::add:
        all += value;
        break;
      case Summing::least:
        all = std::min(all, value);
        break;
      case Summing::most:
        all = std::max(all, value);
        break;
    }
    if (kTable[index(name)].may_be_absent) known_ |= bit(name);
  }

  constexpr CounterSet& operator+=(const CounterSet& other) noexcept {
    const std::uint64_t known = known_ | other.known_;
    for (const auto& line : kTable) add(line.id, other[line.id]);
    known_ = known;
    return *this;
  }

  /// Subtracts what was counted up to `before`. Yields 0 where `before` is larger, as successive reads of a device's
  /// counters may be. Smallest and largest values stay as they are.
  constexpr CounterSet& operator-=(const CounterSet& before) noexcept {
    for (std::size_t i = 0; i < kSize; ++i)
      if (kTable[i].summing == Summing::add) values_[i] -= std::min(values_[i], before.values_[i]);
    return *this;
  }
  friend constexpr CounterSet operator+(CounterSet one, const CounterSet& other) noexcept { return one += other; }
  friend constexpr CounterSet operator-(CounterSet now, const CounterSet& before) noexcept { return now -= before; }
  friend constexpr bool operator==(const CounterSet&, const CounterSet&) = default;

 private:
  static constexpr std::size_t index(Name name) noexcept { return static_cast<std::size_t>(name); }
  static constexpr std::uint64_t bit(Name name) noexcept { return std::uint64_t{1} << index(name); }

  std::array<std::uint64_t, kSize> values_{};
  std::uint64_t known_ = 0;  ///< bits of the counters that may be absent and were set
};

/// Returns whether a table has one line for each name, in order.
template <class Table>
constexpr bool is_in_order(const Table& table) noexcept {
  for (std::size_t i = 0; i < std::size(table); ++i)
    if (static_cast<std::size_t>(table[i].id) != i) return false;
  return true;
}

}  // namespace parshall
