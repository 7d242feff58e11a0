// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/arrow/column.hpp"

#include <bit>

#include "pipeline/output/format.hpp"

namespace parshall {
namespace {

static_assert(std::endian::native == std::endian::little);

/// Sets bit `row`, of a bitmap that has as many bytes as bits need.
void put_bit(std::string& bits, std::int64_t row, bool set) {
  if (row % 8 == 0) bits += '\0';
  if (set) bits.back() = static_cast<char>(bits.back() | 1 << row % 8);
}

std::size_t bytes_of(ColumnType type) noexcept {
  if (type.value == ValueType::boolean || type.value == ValueType::address) return 0;
  return type.value == ValueType::enumeration ? sizeof(std::int16_t) : type.bits / 8;
}

void put_offset(std::string& offsets, std::size_t end) {
  const auto at = static_cast<std::int32_t>(end);
  offsets.append(reinterpret_cast<const char*>(&at), sizeof at);
}

}  // namespace

ArrowColumn::ArrowColumn(const ColumnInfo& info) noexcept : type_(info.type), bytes_(bytes_of(info.type)) {}

void ArrowColumn::add(const Value& value) {
  put_bit(present_, rows_, value.present());
  absent_ += !value.present();
  switch (type_.value) {
    case ValueType::boolean:
      put_bit(data_, rows_, value.present() && value.as_bool());
      break;
    case ValueType::address: {
      if (rows_ == 0) put_offset(offsets_, 0);
      if (value.present()) {
        char text[kMaxAddressChars];
        data_.append(text, put_address(text, value.as_address()));
      }
      put_offset(offsets_, data_.size());
      break;
    }
    case ValueType::real:
      if (type_.bits == 32)
        put(std::bit_cast<std::uint32_t>(static_cast<float>(value.as_real())));
      else
        put(value.as_unsigned());
      break;
    case ValueType::unsigned_integer:
    case ValueType::signed_integer:
    case ValueType::time:
    case ValueType::enumeration:
    case ValueType::flags:
      put(value.as_unsigned());
      break;
  }
  ++rows_;
}

void ArrowColumn::move_to(ArrowBody& body) {
  body.nodes.push_back({rows_, absent_});
  body.add(absent_ == 0 ? std::string_view() : std::string_view(present_));
  if (type_.value == ValueType::address) {
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
