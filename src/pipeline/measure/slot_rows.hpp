// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"

namespace parshall {

/// Objects of type T by slot of the table, which one stage keeps of each flow. An untouched one is all zero.
template <class T>
class SlotColumn {
 public:
  SlotColumn() = default;
  SlotColumn(std::byte* first, unsigned shift) noexcept : first_(first), shift_(shift) {}

  T& operator[](std::size_t slot) const noexcept { return *reinterpret_cast<T*>(first_ + (slot << shift_)); }

 private:
  std::byte* first_ = nullptr;
  unsigned shift_ = 0;  ///< log2 of a row's bytes
};

/// Memory of several stages, with a row for each slot, so that one prefetch brings what all of them keep of a flow.
///
/// Shape: a row has a power of two of bytes, at least 8. Rows of unused slots are never touched.
class SlotRows {
 public:
  /// `row_bytes`: the sum of the columns' sizes. At most `most_used` slots have a flow at a time.
  SlotRows(std::size_t slots, std::size_t row_bytes, std::size_t most_used)
      : slots_(slots),
        most_used_(std::min(slots, most_used)),
        shift_(shift_for(row_bytes)),
        rows_(row_bytes == 0 ? 0 : slots << shift_) {}

  SlotRows(std::size_t slots, std::size_t row_bytes) : SlotRows(slots, row_bytes, slots) {}

  static std::size_t memory_bytes(std::size_t slots, std::size_t row_bytes) noexcept {
    return row_bytes == 0 ? 0 : slots << shift_for(row_bytes);
  }

  std::size_t slots() const noexcept { return slots_; }
  std::size_t most_used() const noexcept { return most_used_; }  ///< slots
  bool empty() const noexcept { return rows_.size() == 0; }
  void populate() { rows_.populate(); }

  /// Adds a column. Columns are added in falling order of their alignment, and fit into row_bytes.
  template <class T>
  SlotColumn<T> add() noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    assert(used_ % alignof(T) == 0 && used_ + sizeof(T) <= std::size_t{1} << shift_);
    std::byte* const first = rows_.data() + used_;
    used_ += sizeof(T);
    return {first, shift_};
  }

  [[gnu::always_inline]] void prefetch(std::size_t slot) const noexcept {
    const std::byte* const row = rows_.data() + (slot << shift_);
    prefetch_line(row);
    for (unsigned line = 1; line < 1U << shift_ >> kLineShift; ++line) prefetch_line(row + (line << kLineShift));
  }

 private:
  static constexpr unsigned kLineShift = 6;
  static unsigned shift_for(std::size_t row_bytes) noexcept {
    return static_cast<unsigned>(std::bit_width(std::max<std::size_t>(row_bytes, 8) - 1));
  }

  std::size_t slots_, most_used_;
  unsigned shift_;
  HugeBuffer<std::byte> rows_;
  std::size_t used_ = 0;
};

}  // namespace parshall
