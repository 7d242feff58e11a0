// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "pipeline/output/arrow/messages.hpp"
#include "pipeline/output/column.hpp"
#include "pipeline/output/report.hpp"

namespace parshall {

/// The buffers of an array, as Arrow has them.
struct ArrowBuffers {
  std::int64_t rows = 0, absent = 0;
  std::string present, data, offsets;  ///< bits, none while nothing is absent; what there is; where texts end
};

/// Gathers the values of a column for a batch, as Arrow's arrays have them.
class ArrowColumn {
 public:
  explicit ArrowColumn(const ColumnInfo& info);

  /// The values of a column of each.
  void add(std::span<const ReportFlow> batch, std::size_t column);
  /// The same of rows that lie one after the other, of so many columns.
  void add(std::span<const Value> rows, std::size_t columns, std::size_t column);

  /// That a value takes at most.
  static std::size_t value_bytes(const ColumnInfo& info) noexcept;

  /// Appends its buffers, and begins anew.
  void move_to(ArrowBody& body);
  /// Gives them away, and begins anew.
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
