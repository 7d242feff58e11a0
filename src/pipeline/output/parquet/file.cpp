// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/parquet/file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "pipeline/output/parquet/encodings.hpp"

namespace parshall {
namespace {

constexpr std::string_view kMagic = "PAR1";
constexpr std::int32_t kVersion = 2, kZstd = 6;
using Type = ThriftWriter::Type;

/// Writes the LogicalType, and the older ConvertedType if there is one.
void put_logical_type(ThriftWriter& footer, ColumnType type) {
  constexpr std::int32_t kUtf8 = 0, kFirstUnsigned = 11;  // UINT_8, then those of 16, 32 and 64 bits
  switch (type.value) {
    case ValueType::address:
    case ValueType::community_id:
    case ValueType::text:
    case ValueType::enumeration:
      if (type == kOctets) return;
      footer.i32(6, kUtf8);
      footer.open(10);
      footer.nothing(1);
      return footer.close();
    case ValueType::time:
      footer.open(10);
      footer.open(8);
      footer.boolean(1, true);  // UTC
      footer.open(2);
      footer.nothing(3);  // unit: ns
      footer.close();
      footer.close();
      return footer.close();
    case ValueType::unsigned_integer:
    case ValueType::flags:
      footer.i32(6, kFirstUnsigned + (type.bits == 8 ? 0 : type.bits == 16 ? 1 : type.bits == 32 ? 2 : 3));
      footer.open(10);
      footer.open(10);
      footer.i8(1, static_cast<std::int8_t>(type.bits));
      footer.boolean(2, false);
      footer.close();
      return footer.close();
    case ValueType::signed_integer:
    case ValueType::real:
    case ValueType::boolean:
      return;
  }
}

void put_statistics(ThriftWriter& footer, const ParquetChunk& chunk) {
  footer.open(12);
  footer.i64(3, chunk.absent);
  if (chunk.has_bounds) {
    footer.text(5, chunk.most);
    footer.text(6, chunk.least);
    footer.boolean(7, true);
    footer.boolean(8, true);
  }
  footer.close();
}

void put_chunk(ThriftWriter& footer, const ParquetChunk& chunk, const ColumnInfo& column) {
  footer.open();
  footer.i64(2, 0);  // deprecated
  footer.open(3);
  footer.i32(1, static_cast<std::int32_t>(parquet_type(column.type)));
  const ParquetEncoding encoding = parquet_encoding(column.type);
  footer.list(2, Type::i32, 3);
  footer.item(static_cast<std::int32_t>(encoding));
  footer.item(static_cast<std::int32_t>(ParquetEncoding::rle));
  footer.item(static_cast<std::int32_t>(ParquetEncoding::plain));
  footer.list(3, Type::binary, 1);
  footer.item(column.name);
  footer.i32(4, kZstd);
  footer.i64(5, chunk.values);
  footer.i64(6, chunk.raw_bytes);
  footer.i64(7, chunk.packed_bytes);
  footer.i64(9, chunk.data_at);
  if (chunk.dictionary_at != 0) footer.i64(11, chunk.dictionary_at);
  put_statistics(footer, chunk);
  footer.close();
  footer.close();
}

/// Returns the name of an incomplete file. Readers of a folder skip it: Spark and Arrow by its first character, globs
/// by its ending.
std::string part_of(const std::string& path) {
  const std::size_t name = path.rfind('/') + 1;
  return fmt::format("{}_{}.part", path.substr(0, name), path.substr(name));
}

}  // namespace

Result<std::unique_ptr<ParquetFile>> ParquetFile::create(const std::string& path, std::span<const ColumnInfo> columns,
                                                         int level) {
  auto output = Output::open(part_of(path));
  if (!output) return output.error();
  std::unique_ptr<ParquetFile> file(new ParquetFile(path, **output, columns, level));
  file->own_ = *std::move(output);
  return file;
}

std::unique_ptr<ParquetFile> ParquetFile::begin(Output& output, std::span<const ColumnInfo> columns, int level) {
  return std::unique_ptr<ParquetFile>(new ParquetFile(output.name(), output, columns, level));
}

ParquetFile::ParquetFile(std::string path, Output& output, std::span<const ColumnInfo> columns, int level)
    : path_(std::move(path)), output_(&output), compressor_(level) {
  columns_.reserve(columns.size());
  for (const ColumnInfo& column : columns) columns_.emplace_back(column);
  put(kMagic);
}

std::uint64_t ParquetFile::memory_bytes(std::span<const ColumnInfo> columns) noexcept {
  constexpr std::uint64_t kPages = 4;  // copies per column: raw, packed, room for packing, and what is written
  std::uint64_t all = 0, most = 0;
  for (const ColumnInfo& column : columns) {
    const std::uint64_t bytes = ParquetColumn::memory_bytes(column, kGroupRows);
    all += bytes;
    most = std::max(most, bytes);
  }
  return all + kPages * most;
}

ParquetFile::~ParquetFile() {
  if (own_ != nullptr) ::unlink(part_of(path_).c_str());
}

void ParquetFile::put(std::string_view bytes) {
  output_->write(bytes);
  at_ += static_cast<std::int64_t>(bytes.size());
}

void ParquetFile::end_row() {
  ++rows_;
  if (++rows_in_group_ == static_cast<std::int64_t>(kGroupRows)) write_group();
}

void ParquetFile::write_group() {
  if (rows_in_group_ == 0) return;
  Group& group = groups_.emplace_back(Group{.chunks = {}, .rows = rows_in_group_});
  std::string pages;
  for (ParquetColumn& column : columns_) {
    pages.clear();
    group.chunks.push_back(column.write(pages, at_, compressor_));
    put(pages);
  }
  rows_in_group_ = 0;
}

void ParquetFile::put_schema(ThriftWriter& footer) const {
  constexpr std::int32_t kRequired = 0, kOptional = 1;
  footer.list(2, Type::structure, columns_.size() + 1);
  footer.open();
  footer.text(4, "schema");
  footer.i32(5, static_cast<std::int32_t>(columns_.size()));
  footer.close();
  for (const ParquetColumn& column : columns_) {
    const ColumnInfo& info = column.info();
    footer.open();
    footer.i32(1, static_cast<std::int32_t>(parquet_type(info.type)));
    footer.i32(3, info.nullable ? kOptional : kRequired);
    footer.text(4, info.name);
    put_logical_type(footer, info.type);
    footer.close();
  }
}

void ParquetFile::put_groups(ThriftWriter& footer) const {
  footer.list(4, Type::structure, groups_.size());
  for (const Group& group : groups_) {
    footer.open();
    footer.list(1, Type::structure, columns_.size());
    std::int64_t raw_bytes = 0, packed_bytes = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      put_chunk(footer, group.chunks[i], columns_[i].info());
      raw_bytes += group.chunks[i].raw_bytes;
      packed_bytes += group.chunks[i].packed_bytes;
    }
    footer.i64(2, raw_bytes);
    footer.i64(3, group.rows);
    footer.i64(6, packed_bytes);
    footer.close();
  }
}

std::optional<Error> ParquetFile::finish(const Metadata& metadata) {
  write_group();
  ThriftWriter footer;
  footer.i32(1, kVersion);
  put_schema(footer);
  footer.i64(3, rows_);
  put_groups(footer);
  footer.list(5, Type::structure, metadata.size());
  for (const auto& [name, value] : metadata) {
    footer.open();
    footer.text(1, name);
    footer.text(2, value);
    footer.close();
  }
  footer.text(6, "parshall");
  footer.list(7, Type::structure, columns_.size());  // bounds are in the order of the columns' types
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    footer.open();
    footer.nothing(1);
    footer.close();
  }
  std::string end = footer.finish();
  put_little(end, end.size(), 4);
  end += kMagic;
  put(end);
  if (own_ == nullptr) return output_->error();
  output_->sync();
  if (output_->error()) return output_->error();
  if (std::rename(part_of(path_).c_str(), path_.c_str()) != 0)
    return Error{fmt::format("cannot name {}: {}", path_, std::strerror(errno))};
  own_.reset();
  return std::nullopt;
}

}  // namespace parshall
