// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/arrow/messages.hpp"

#include <flatbuffers/flatbuffers.h>

#include <cstddef>

namespace parshall {
namespace {

using Builder = flatbuffers::FlatBufferBuilder;
using Offset = flatbuffers::Offset<void>;

// Numbers of MessageHeader and Type in their unions, and of MetadataVersion.
enum : std::uint8_t { kSchema = 1, kDictionaryBatch = 2, kRecordBatch = 3 };
enum : std::uint8_t { kInt = 2, kFloatingPoint = 3, kBinary = 4, kUtf8 = 5, kBool = 6, kTimestamp = 10 };
constexpr std::int16_t kVersion5 = 4, kNanosecond = 3;

/// Returns the offset of the n-th field in a table.
constexpr flatbuffers::voffset_t field(unsigned n) noexcept { return static_cast<flatbuffers::voffset_t>(4 + 2 * n); }

/// Writes a table, after everything that it refers to.
template <class Fill>
Offset table(Builder& builder, const Fill& fill) {
  const auto start = builder.StartTable();
  fill();
  return Offset(builder.EndTable(start));
}

Offset int_type(Builder& builder, int bits, bool is_signed) {
  return table(builder, [&] {
    builder.AddElement<std::int32_t>(field(0), bits, 0);
    builder.AddElement<std::uint8_t>(field(1), is_signed ? 1 : 0, 0);
  });
}

struct Typed {
  std::uint8_t number;
  Offset type;
};

Typed type_of(Builder& builder, const ColumnInfo& column) {
  const ColumnType type = column.type;
  switch (type.value) {
    case ValueType::address:
    case ValueType::community_id:
    case ValueType::text:
    case ValueType::enumeration:
      return {type == kOctets ? kBinary : kUtf8, table(builder, [] {})};
    case ValueType::boolean:
      return {kBool, table(builder, [] {})};
    case ValueType::time: {
      const auto zone = builder.CreateString("UTC");
      return {kTimestamp, table(builder, [&] {
                builder.AddElement<std::int16_t>(field(0), kNanosecond, 0);
                builder.AddOffset(field(1), zone);
              })};
    }
    case ValueType::real:
      return {kFloatingPoint,
              table(builder, [&] { builder.AddElement<std::int16_t>(field(0), type.bits == 32 ? 1 : 2, 0); })};
    case ValueType::signed_integer:
      return {kInt, int_type(builder, type.bits, true)};
    case ValueType::unsigned_integer:
    case ValueType::flags:
      break;
  }
  return {kInt, int_type(builder, type.bits, false)};
}

Offset field_of(Builder& builder, const ColumnInfo& column, std::int64_t number) {
  const auto name = builder.CreateString(column.name);
  const Typed typed = type_of(builder, column);
  Offset dictionary;
  const bool is_enumeration = column.type.value == ValueType::enumeration;
  if (is_enumeration) {
    const Offset index = int_type(builder, 16, true);
    dictionary = table(builder, [&] {
      builder.AddElement<std::int64_t>(field(0), number, 0);
      builder.AddOffset(field(1), index);
    });
  }
  const auto children = builder.CreateVector(std::vector<Offset>());
  return table(builder, [&] {
    builder.AddOffset(field(0), name);
    builder.AddElement<std::uint8_t>(field(1), column.nullable ? 1 : 0, 0);
    builder.AddElement<std::uint8_t>(field(2), typed.number, 0);
    builder.AddOffset(field(3), typed.type);
    if (is_enumeration) builder.AddOffset(field(4), dictionary);
    builder.AddOffset(field(5), children);
  });
}

auto metadata_of(Builder& builder, const ArrowMetadata& metadata) {
  std::vector<Offset> pairs;
  for (const auto& [key, value] : metadata) {
    const auto key_text = builder.CreateString(key), value_text = builder.CreateString(value);
    pairs.push_back(table(builder, [&] {
      builder.AddOffset(field(0), key_text);
      builder.AddOffset(field(1), value_text);
    }));
  }
  return builder.CreateVector(pairs);
}

Offset batch_of(Builder& builder, const ArrowBody& body) {
  const auto nodes = builder.CreateVectorOfStructs(body.nodes);
  const auto buffers = builder.CreateVectorOfStructs(body.buffers);
  return table(builder, [&] {
    builder.AddElement<std::int64_t>(field(0), body.rows, 0);
    builder.AddOffset(field(1), nodes);
    builder.AddOffset(field(2), buffers);
  });
}

void put_int32(std::string& out, std::uint32_t value) {
  for (unsigned shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift);
}

std::string message(Builder& builder, std::uint8_t kind, Offset header, std::string_view body,
                    const ArrowMetadata& metadata = {}) {
  constexpr std::size_t kAlign = 8;
  const auto said = metadata_of(builder, metadata);
  builder.Finish(table(builder, [&] {
    builder.AddElement<std::int16_t>(field(0), kVersion5, 0);
    builder.AddElement<std::uint8_t>(field(1), kind, 0);
    builder.AddOffset(field(2), header);
    builder.AddElement<std::int64_t>(field(3), static_cast<std::int64_t>(body.size()), 0);
    builder.AddOffset(field(4), said);
  }));
  const std::size_t bytes = (builder.GetSize() + kAlign - 1) / kAlign * kAlign;
  std::string out;
  out.reserve(kAlign + bytes + body.size());
  put_int32(out, 0xffffffff);
  put_int32(out, static_cast<std::uint32_t>(bytes));
  out.append(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
  out.append(kAlign + bytes - out.size(), '\0');
  out += body;
  return out;
}

}  // namespace

void ArrowBody::add(std::string_view buffer) {
  constexpr std::size_t kAlign = 8;
  buffers.push_back({static_cast<std::int64_t>(bytes.size()), static_cast<std::int64_t>(buffer.size())});
  bytes += buffer;
  bytes.append((kAlign - bytes.size() % kAlign) % kAlign, '\0');
}

std::string arrow_schema(std::span<const ColumnInfo> columns, const ArrowMetadata& metadata) {
  Builder builder;
  std::vector<Offset> fields;
  for (std::size_t i = 0; i < columns.size(); ++i)
    fields.push_back(field_of(builder, columns[i], static_cast<std::int64_t>(i)));
  const auto all = builder.CreateVector(fields);
  const auto said = metadata_of(builder, metadata);
  const Offset schema = table(builder, [&] {
    builder.AddOffset(field(1), all);
    builder.AddOffset(field(2), said);
  });
  return message(builder, kSchema, schema, {});
}

std::string arrow_dictionary(std::int64_t column, const std::vector<std::string>& names) {
  ArrowBody body;
  body.rows = static_cast<std::int64_t>(names.size());
  body.nodes = {{body.rows, 0}};
  std::string offsets, texts;
  put_int32(offsets, 0);
  for (const std::string& name : names) {
    texts += name;
    put_int32(offsets, static_cast<std::uint32_t>(texts.size()));
  }
  body.add({});  // bitmap: none is absent
  body.add(offsets);
  body.add(texts);
  Builder builder;
  const Offset batch = batch_of(builder, body);
  const Offset dictionary = table(builder, [&] {
    builder.AddElement<std::int64_t>(field(0), column, 0);
    builder.AddOffset(field(1), batch);
  });
  return message(builder, kDictionaryBatch, dictionary, body.bytes);
}

std::string arrow_batch(const ArrowBody& body, const ArrowMetadata& metadata) {
  Builder builder;
  const Offset batch = batch_of(builder, body);
  return message(builder, kRecordBatch, batch, body.bytes, metadata);
}

std::string arrow_end() { return {"\xff\xff\xff\xff\0\0\0\0", 8}; }

}  // namespace parshall
