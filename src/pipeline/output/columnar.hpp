// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "pipeline/output/records/column.hpp"

namespace parshall {

/// Returns the columns with their names in columnar outputs. Times, which are timestamps there, lose "_ns".
inline std::vector<ColumnInfo> columnar(std::span<const ColumnInfo> columns) {
  constexpr std::string_view kNs = "_ns";
  std::vector<ColumnInfo> named(columns.begin(), columns.end());
  for (ColumnInfo& column : named)
    if (column.type.value == ValueType::time && column.name.ends_with(kNs))
      column.name.resize(column.name.size() - kNs.size());
  return named;
}

}  // namespace parshall
