// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "verify/exported_file.hpp"

namespace parshall {

/// One row of the columns that were asked for, in their order.
struct ParquetRow {
  std::vector<std::uint64_t> numbers;   ///< 0 for texts and absent values
  std::vector<std::string_view> texts;  ///< empty for numbers and absent values
  std::vector<bool> present;
};

/// Reads rows of a Parquet file that parshall wrote: columns of integers and texts. A column that the file lacks is
/// absent in all rows. Sets its metadata first. `visit` returns whether to go on with the row group. Returns what is
/// wrong with the file, if anything.
///
/// Memory: a row group at a time.
std::string read_parquet_rows(Bytes file, std::span<const std::string_view> columns,
                              std::map<std::string, std::string>& metadata,
                              const std::function<bool(const ParquetRow&)>& visit);

}  // namespace parshall
