// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "pipeline/output/arrow/messages.hpp"
#include "pipeline/output/column.hpp"

namespace parshall {

/// Gathers the values of a column for a batch, as Arrow's arrays have them.
class ArrowColumn {
 public:
  explicit ArrowColumn(const ColumnInfo& info) noexcept;

  void add(const Value& value);

  /// Appends its buffers, and begins anew.
  void move_to(ArrowBody& body);

 private:
  void put(std::uint64_t word) { data_.append(reinterpret_cast<const char*>(&word), bytes_); }

  ColumnType type_;
  std::size_t bytes_;  ///< of a value; 0: a bit, or a text
  std::int64_t rows_ = 0, absent_ = 0;
  std::string present_, data_, offsets_;  ///< bits; what there is; where texts end
};

}  // namespace parshall
