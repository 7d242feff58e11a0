// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "pipeline/output/arrow/messages.hpp"
#include "pipeline/output/records/column.hpp"
#include "pipeline/output/text/report.hpp"

namespace parshall {

/// Buffers of an array in Arrow's format.
struct ArrowBuffers {
  std::int64_t rows = 0, absent = 0;
  std::string present, data, offsets;  ///< bitmap (empty while nothing is absent), values, ends of texts
};

/// Collects the values of a column for a batch, in Arrow's format.
class ArrowColumn {
 public:
  explicit ArrowColumn(const ColumnInfo& info);

  /// Adds the value of column `column` of each flow.
  void add(std::span<const ReportFlow> batch, std::size_t column);
  /// Adds the value of column `column` of each row; rows are contiguous and have `columns` values.
  void add(std::span<const Value> rows, std::size_t columns, std::size_t column);

  /// Returns the most bytes that a value takes.
  static std::size_t value_bytes(const ColumnInfo& info) noexcept;

  /// Appends the buffers to `body` and starts again.
  void move_to(ArrowBody& body);
  /// Returns the buffers and starts again.
  ArrowBuffers take();

 private:
  template <class ValueAt>
  void add_values(std::size_t rows, ValueAt value_at);
  template <class Number, class ValueAt, class Of>
  void put(std::size_t rows, ValueAt value_at, Of of);
  void put_text(const Value& value);
  template <class ValueAt>
  void note_absent(std::size_t rows, ValueAt value_at);
  void complete();

  ColumnInfo info_;
  ArrowBuffers buffers_;
};

}  // namespace parshall
