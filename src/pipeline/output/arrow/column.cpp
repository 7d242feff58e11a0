// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/arrow/column.hpp"

#include <bit>
#include <cstring>

#include "pipeline/output/put_value.hpp"

namespace parshall {
namespace {

static_assert(std::endian::native == std::endian::little);

/// Sets bit `row`, of a bitmap that has as many bytes as bits need.
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
  return info.has_own_texts() ? kLongestUnnamed + sizeof(std::int32_t) : sizeof(std::uint64_t);
}

void ArrowColumn::add(std::span<const ReportFlow> batch, std::size_t column) {
  if (info_.nullable) note_absent(batch, column);
  const auto whole = [](const Value& value) { return value.as_unsigned(); };
  switch (info_.type.value) {
    case ValueType::boolean:
      for (std::size_t i = 0; i < batch.size(); ++i)
        put_bit(data_, rows_ + static_cast<std::int64_t>(i), batch[i].values[column].as_bool());
      break;
    case ValueType::address:
    case ValueType::community_id:
      if (rows_ == 0) put_offset(offsets_, 0);
      for (const ReportFlow& flow : batch) put_text(flow.values[column]);
      break;
    case ValueType::real:
      if (info_.type.bits == 32)
        put<float>(batch, column, [](const Value& value) { return value.as_real(); });
      else
        put<std::uint64_t>(batch, column, whole);
      break;
    case ValueType::enumeration:
      put<std::uint16_t>(batch, column, whole);
      break;
    case ValueType::unsigned_integer:
    case ValueType::signed_integer:
    case ValueType::time:
    case ValueType::flags:
      if (info_.type.bits == 8)
        put<std::uint8_t>(batch, column, whole);
      else if (info_.type.bits == 16)
        put<std::uint16_t>(batch, column, whole);
      else if (info_.type.bits == 32)
        put<std::uint32_t>(batch, column, whole);
      else
        put<std::uint64_t>(batch, column, whole);
      break;
  }
  rows_ += static_cast<std::int64_t>(batch.size());
}

template <class Number, class Of>
void ArrowColumn::put(std::span<const ReportFlow> batch, std::size_t column, Of of) {
  const std::size_t begin = data_.size();
  data_.resize(begin + batch.size() * sizeof(Number));
  char* at = data_.data() + begin;
  for (const ReportFlow& flow : batch) {
    const auto number = static_cast<Number>(of(flow.values[column]));
    std::memcpy(at, &number, sizeof number);
    at += sizeof number;
  }
}

void ArrowColumn::put_text(const Value& value) {
  if (value.present()) {
    const std::size_t begin = data_.size();
    data_.resize(begin + kLongestUnnamed);
    data_.resize(static_cast<std::size_t>(put_value(data_.data() + begin, info_, value) - data_.data()));
  }
  put_offset(offsets_, data_.size());
}

void ArrowColumn::note_absent(std::span<const ReportFlow> batch, std::size_t column) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const bool present = batch[i].values[column].present();
    const std::int64_t row = rows_ + static_cast<std::int64_t>(i);
    if (present && absent_ == 0) continue;
    if (absent_ == 0)
      for (std::int64_t before = 0; before < row; ++before) put_bit(present_, before, true);
    absent_ += !present;
    put_bit(present_, row, present);
  }
}

void ArrowColumn::move_to(ArrowBody& body) {
  body.nodes.push_back({rows_, absent_});
  body.add(absent_ == 0 ? std::string_view() : std::string_view(present_));
  if (info_.has_own_texts()) {
    if (rows_ == 0) put_offset(offsets_, 0);
    body.add(offsets_);
  }
  body.add(data_);
  present_.clear();
  data_.clear();
  offsets_.clear();
  rows_ = absent_ = 0;
}

}  // namespace parshall
