// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <absl/container/flat_hash_map.h>
#include <zstd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/output/parquet/thrift.hpp"
#include "pipeline/output/records/column.hpp"

namespace parshall {

/// Physical types and encodings, with their numbers in parquet.thrift.
enum class ParquetType : std::uint8_t { boolean = 0, int32 = 1, int64 = 2, float32 = 4, float64 = 5, bytes = 6 };
enum class ParquetEncoding : std::uint8_t { plain = 0, rle = 3, delta = 5, dictionary = 8 };

ParquetType parquet_type(ColumnType type) noexcept;
ParquetEncoding parquet_encoding(ColumnType type) noexcept;

/// Place and properties of the values of one column and row group in a file.
struct ParquetChunk {
  std::int64_t values = 0, absent = 0;
  std::int64_t dictionary_at = 0, data_at = 0;   ///< offsets in the file; 0: no dictionary
  std::int64_t raw_bytes = 0, packed_bytes = 0;  ///< sizes of all pages with their headers
  bool has_bounds = false;
  std::string least, most;  ///< bounds in PLAIN encoding, texts without their length
};

/// Compresses pages, with a checksum in each.
class PageCompressor {
 public:
  explicit PageCompressor(int level);
  /// Compresses `raw`. The result is valid until the next call.
  std::string_view compress(std::string_view raw);

 private:
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context_;
  std::string packed_;
};

/// Collects the values of one column for a row group, then writes them as a page. A dictionary precedes it if the
/// column has texts.
///
/// Memory: 8 bytes a value, and 8 a row if some are absent; about a hundred for each address, and two hundred for each
/// text.
class ParquetColumn {
 public:
  explicit ParquetColumn(const ColumnInfo& info);
  static std::uint64_t memory_bytes(const ColumnInfo& info, std::size_t rows) noexcept;

  void add(const Value& value) {
    ++rows_;
    if (!value.present() && info_.nullable) [[unlikely]]
      return add_absent();
    if (!present_.empty()) present_.push_back(1);
    words_.push_back(has_texts_ ? place_of(value) : value.as_unsigned());
  }
  std::size_t rows() const noexcept { return rows_; }

  /// Appends the pages, which will be at `file_at` in the file, and starts again.
  ParquetChunk write(std::string& out, std::int64_t file_at, PageCompressor& compressor);

  const ColumnInfo& info() const noexcept { return info_; }

 private:
  using Address = std::array<std::uint8_t, 16>;
  using Digest = std::array<std::uint8_t, Value::kDigestBytes>;
  template <class Key>
  using Places = absl::flat_hash_map<Key, std::uint64_t>;  ///< indices in the dictionary

  std::uint64_t place_of(const Value& value);
  template <class Key>
  std::uint64_t place_of(const Value& value, const Key& key, Places<Key>& places);
  void add_absent();
  void put_levels(std::string& page) const;
  void put_values(std::string& page, std::size_t names) const;
  void bound(ParquetChunk& chunk) const;
  void bound_texts(ParquetChunk& chunk) const;

  ColumnInfo info_;
  std::vector<std::uint64_t> words_;    ///< present values: bits of numbers, or indices in the dictionary
  std::vector<std::uint64_t> present_;  ///< 1 or 0 for each row; empty: none is absent
  std::size_t rows_ = 0;
  bool has_texts_;  ///< true for addresses and the like
  Places<Address> places_;
  Places<Digest> ids_;
  Places<std::string> names_;       ///< for a column of texts
  std::vector<std::string> texts_;  ///< dictionary entries
};

}  // namespace parshall
