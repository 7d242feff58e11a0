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

/// Gathers the values of a column for a batch, as Arrow's arrays have them.
class ArrowColumn {
 public:
  explicit ArrowColumn(const ColumnInfo& info);

  /// The values of a column of each.
  void add(std::span<const ReportFlow> batch, std::size_t column);

  /// That a value takes at most.
  static std::size_t value_bytes(const ColumnInfo& info) noexcept;

  /// Appends its buffers, and begins anew.
  void move_to(ArrowBody& body);

 private:
  template <class Number, class Of>
  void put(std::span<const ReportFlow> batch, std::size_t column, Of of);
  void put_text(const Value& value);
  void note_absent(std::span<const ReportFlow> batch, std::size_t column);

  ColumnInfo info_;
  std::int64_t rows_ = 0, absent_ = 0;
  std::string present_, data_, offsets_;  ///< bits, none while nothing is absent; what there is; where texts end
};

}  // namespace parshall
