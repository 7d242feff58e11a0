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

/// A Parquet file: row groups, each with a page per column, then the footer. Source: parquet-format 2.10.
///
/// It is written as _NAME.part and renamed once it is complete. Times are timestamps in ns (UTC), addresses and
/// enumerations are texts, and absent values are null.
///
/// Memory: a row group's values, as ParquetColumn keeps them, and its pages.
class ParquetFile {
 public:
  /// Returns the memory of a row group of these columns until it is written.
  static std::uint64_t memory_bytes(std::span<const ColumnInfo> columns) noexcept;

  static constexpr std::size_t kGroupRows = 122'880;  ///< keeps a page of any column at 1 MB or less

  using Metadata = std::vector<std::pair<std::string, std::string>>;

  /// Makes a new file.
  static Result<std::unique_ptr<ParquetFile>> create(const std::string& path, std::span<const ColumnInfo> columns,
                                                     int level);
  /// Begins a file in an output, which stays open.
  static std::unique_ptr<ParquetFile> begin(Output& output, std::span<const ColumnInfo> columns, int level);
  ~ParquetFile();  ///< removes an incomplete file
  ParquetFile(const ParquetFile&) = delete;
  ParquetFile& operator=(const ParquetFile&) = delete;

  /// Returns a column to add a value to. A row takes one value for each column, in order, then end_row().
  ParquetColumn& column(std::size_t index) noexcept { return columns_[index]; }
  void end_row();

  /// Writes the rest and the footer, which completes the file unless there is an error.
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

  ParquetFile(std::string path, Output& output, std::span<const ColumnInfo> columns, int level);
  void put(std::string_view bytes);
  void write_group();
  void put_schema(ThriftWriter& footer) const;
  void put_groups(ThriftWriter& footer) const;

  std::string path_;
  std::unique_ptr<Output> own_;  ///< null once it is complete, or if it is another's
  Output* output_;
  std::vector<ParquetColumn> columns_;
  PageCompressor compressor_;
  std::vector<Group> groups_;
  std::int64_t at_ = 0, rows_ = 0, rows_in_group_ = 0;
};

}  // namespace parshall
