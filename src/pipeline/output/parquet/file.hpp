// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "pipeline/output/output.hpp"
#include "pipeline/output/parquet/chunk.hpp"

namespace parshall {

/// A Parquet file: row groups, each with a page a column, then what it all is. Source: parquet-format 2.10.
///
/// It is written as _NAME.part, and has its name once it is whole. Times are timestamps in ns (UTC), addresses and
/// enumerations texts, what may be absent null.
///
/// Memory: a row group's values, as ParquetColumn keeps them, and its pages.
class ParquetFile {
 public:
  /// That a row group takes until it is written, of such columns.
  static std::uint64_t memory_bytes(std::span<const ColumnInfo> columns) noexcept;

  static constexpr std::size_t kGroupRows = 122'880;  ///< a page of 1 MB or less, of any column

  using Metadata = std::vector<std::pair<std::string, std::string>>;

  /// A new file, with a row group's columns.
  static Result<std::unique_ptr<ParquetFile>> create(const std::string& path, std::span<const ColumnInfo> columns,
                                                     int level);
  ~ParquetFile();  ///< one that is not whole is removed
  ParquetFile(const ParquetFile&) = delete;
  ParquetFile& operator=(const ParquetFile&) = delete;

  /// A row: a value for each column, one after the other, then end_row().
  ParquetColumn& column(std::size_t index) noexcept { return columns_[index]; }
  void end_row();

  /// Writes what is left, and what it all is. It is whole then, but for an error.
  std::optional<Error> finish(const Metadata& metadata);

  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t bytes() const noexcept { return at_; }  ///< written so far
  const std::optional<Error>& error() const noexcept { return output_->error(); }
  const std::string& path() const noexcept { return path_; }

 private:
  struct Group {
    std::vector<ParquetChunk> chunks;
    std::int64_t rows;
  };

  ParquetFile(std::string path, std::unique_ptr<Output> output, std::span<const ColumnInfo> columns, int level);
  void put(std::string_view bytes);
  void write_group();
  void put_schema(ThriftWriter& footer) const;
  void put_groups(ThriftWriter& footer) const;

  std::string path_;
  std::unique_ptr<Output> output_;  ///< null: it is whole
  std::vector<ParquetColumn> columns_;
  PageCompressor compressor_;
  std::vector<Group> groups_;
  std::int64_t at_ = 0, rows_ = 0, rows_in_group_ = 0;
};

}  // namespace parshall
