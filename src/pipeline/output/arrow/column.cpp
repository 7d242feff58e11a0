// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/arrow/column.hpp"

#include <bit>
#include <cstring>
#include <utility>

#include "pipeline/output/put_value.hpp"

namespace parshall {
namespace {

static_assert(std::endian::native == std::endian::little);

/// Sets bit `row` of a bitmap that has just enough bytes.
void put_bit(std::string& bits, std::int64_t row, bool set) {
  if (row % 8 == 0) bits += '\0';
  if (set) bits.back() = static_cast<char>(bits.back() | 1 << row % 8);
}

void put_offset(std::string& offsets, std::size_t end) {
  const auto at = static_cast<std::int32_t>(end);
  offsets.append(reinterpret_cast<const char*>(&at), sizeof at);
}

}  // namespace

ArrowColumn::ArrowColumn(const ColumnInfo& info) : info_(info) {}

std::size_t ArrowColumn::value_bytes(const ColumnInfo& info) noexcept {
  return info.has_own_texts() ? longest_value(info) + sizeof(std::int32_t) : sizeof(std::uint64_t);
}

void ArrowColumn::add(std::span<const ReportFlow> batch, std::size_t column) {
  add_values(batch.size(), [&](std::size_t i) -> const Value& { return batch[i].values[column]; });
}

void ArrowColumn::add(std::span<const Value> rows, std::size_t columns, std::size_t column) {
  add_values(rows.size() / columns, [&](std::size_t i) -> const Value& { return rows[i * columns + column]; });
}

template <class ValueAt>
void ArrowColumn::add_values(std::size_t rows, ValueAt value_at) {
  if (info_.nullable) note_absent(rows, value_at);
  const auto whole = [](const Value& value) { return value.as_unsigned(); };
  switch (info_.type.value) {
    case ValueType::boolean:
      for (std::size_t i = 0; i < rows; ++i)
        put_bit(buffers_.data, buffers_.rows + static_cast<std::int64_t>(i), value_at(i).as_bool());
      break;
    case ValueType::address:
    case ValueType::community_id:
    case ValueType::text:
      if (buffers_.rows == 0) put_offset(buffers_.offsets, 0);
      for (std::size_t i = 0; i < rows; ++i) put_text(value_at(i));
      break;
    case ValueType::real:
      if (info_.type.bits == 32)
        put<float>(rows, value_at, [](const Value& value) { return value.as_real(); });
      else
        put<std::uint64_t>(rows, value_at, whole);
      break;
    case ValueType::enumeration:
      put<std::uint16_t>(rows, value_at, whole);
      break;
    case ValueType::unsigned_integer:
    case ValueType::signed_integer:
    case ValueType::time:
    case ValueType::flags:
      if (info_.type.bits == 8)
        put<std::uint8_t>(rows, value_at, whole);
      else if (info_.type.bits == 16)
        put<std::uint16_t>(rows, value_at, whole);
      else if (info_.type.bits == 32)
        put<std::uint32_t>(rows, value_at, whole);
      else
        put<std::uint64_t>(rows, value_at, whole);
      break;
  }
  buffers_.rows += static_cast<std::int64_t>(rows);
}

template <class Number, class ValueAt, class Of>
void ArrowColumn::put(std::size_t rows, ValueAt value_at, Of of) {
  const std::size_t begin = buffers_.data.size();
  buffers_.data.resize(begin + rows * sizeof(Number));
  char* at = buffers_.data.data() + begin;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto number = static_cast<Number>(of(value_at(i)));
    std::memcpy(at, &number, sizeof number);
    at += sizeof number;
  }
}

void ArrowColumn::put_text(const Value& value) {
  std::string& data = buffers_.data;
  if (value.present() && info_.type == kOctets) {
    data.append(value.as_text());
  } else if (value.present()) {
    const std::size_t begin = data.size();
    data.resize(begin + longest_value(info_));
    data.resize(static_cast<std::size_t>(put_value(data.data() + begin, info_, value) - data.data()));
  }
  put_offset(buffers_.offsets, data.size());
}

template <class ValueAt>
void ArrowColumn::note_absent(std::size_t rows, ValueAt value_at) {
  for (std::size_t i = 0; i < rows; ++i) {
    const bool present = value_at(i).present();
    const std::int64_t row = buffers_.rows + static_cast<std::int64_t>(i);
    if (present && buffers_.absent == 0) continue;
    if (buffers_.absent == 0)
      for (std::int64_t before = 0; before < row; ++before) put_bit(buffers_.present, before, true);
    buffers_.absent += !present;
    put_bit(buffers_.present, row, present);
  }
}

/// Adds the extra offset that text columns need, even without rows.
void ArrowColumn::complete() {
  if (info_.has_own_texts() && buffers_.rows == 0) put_offset(buffers_.offsets, 0);
}

void ArrowColumn::move_to(ArrowBody& body) {
  complete();
  body.nodes.push_back({buffers_.rows, buffers_.absent});
  body.add(buffers_.present);
  if (info_.has_own_texts()) body.add(buffers_.offsets);
  body.add(buffers_.data);
  buffers_.present.clear();
  buffers_.data.clear();
  buffers_.offsets.clear();
  buffers_.rows = buffers_.absent = 0;
}

ArrowBuffers ArrowColumn::take() {
  complete();
  return std::exchange(buffers_, {});
}

}  // namespace parshall
