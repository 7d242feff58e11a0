// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/byte_reader.hpp"

namespace parshall {

/// The values of one column in one row group. Source: parquet.thrift, ColumnMetaData.
struct ParquetPlace {
  std::string column;
  bool is_nested = false;  ///< in a column of columns, such as a list
  std::int64_t type = -1;  ///< number in parquet.thrift
  std::int64_t data_at = 0, dictionary_at = 0, packed_bytes = 0, codec = 0;

  std::size_t begin() const noexcept { return static_cast<std::size_t>(dictionary_at > 0 ? dictionary_at : data_at); }
};

struct ParquetGroup {
  std::vector<ParquetPlace> places;
  std::int64_t rows = 0;
};

struct ParquetFooter {
  struct Column {
    std::int64_t type = -1;  ///< number in parquet.thrift
    bool may_be_absent = false, is_list = false;
  };
  std::int64_t rows = 0;
  std::map<std::string, Column> columns;  ///< those that are in no other column, and one with the name of the schema
  std::vector<ParquetGroup> groups;
  std::map<std::string, std::string> metadata;

  /// Reads the end of a file. Returns what is wrong with it, if anything.
  std::string read(Bytes file);
};

struct ParquetPage {
  enum : std::uint8_t { kData = 0, kDictionary = 2, kDataV2 = 3 };                             ///< kinds
  enum : std::uint8_t { kPlain = 0, kOldDictionary = 2, kDelta = 5, kDictionaryIndices = 8 };  ///< encodings
  std::int64_t kind = -1, raw_bytes = 0, packed_bytes = 0, values = 0, encoding = 0;
  std::int64_t level_bytes = 0;  ///< kDataV2: how many bytes at the beginning say which values are absent
  std::int64_t repetition_bytes = 0;
  bool is_compressed = true;
};

/// Decompresses all pages of a place (zstd, Snappy or none), and calls `visit` for each; it returns whether it could
/// read the page. Returns what is wrong, if anything.
std::string visit_pages(Bytes file, const ParquetPlace& place,
                        const std::function<bool(const ParquetPage&, Bytes)>& visit);

}  // namespace parshall
