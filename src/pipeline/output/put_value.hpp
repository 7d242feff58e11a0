// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <string_view>

#include "pipeline/output/format.hpp"
#include "pipeline/output/records/community_id.hpp"
#include "pipeline/output/records/schema.hpp"

namespace parshall {

/// Writes bytes in hexadecimal digits.
inline char* put_hex(char* out, std::string_view bytes) noexcept {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const char each : bytes) {
    const auto byte = static_cast<std::uint8_t>(each);
    *out++ = kDigits[byte >> 4];
    *out++ = kDigits[byte & 15];
  }
  return out;
}

/// Returns a text or bytes for people: of bytes the first ones alone.
inline std::string shown_text(const ColumnInfo& column, std::string_view text) {
  constexpr std::size_t kMost = 12;
  if (column.type != kOctets) return std::string(text);
  std::string shown(2 * std::min(text.size(), kMost), '\0');
  put_hex(shown.data(), text.substr(0, kMost));
  return text.size() > kMost ? shown + ".." : shown;
}

/// Writes a present value for machines: integers in full, times as ns or in the column's form, flags as a number, names
/// and texts as they are, bytes as hexadecimal digits, true and false as words. Needs longest_value() bytes.
inline char* put_value(char* out, const ColumnInfo& column, const Value& value) noexcept {
  switch (column.type.value) {
    case ValueType::time:
      if (column.form == TextForm::iso_time) return put_iso_time(out, value.as_unsigned());
      return put_number(out, value.as_unsigned());
    case ValueType::unsigned_integer:
    case ValueType::flags:
      return put_number(out, value.as_unsigned());
    case ValueType::signed_integer: {
      const std::int64_t number = value.as_signed();
      if (number < 0) *out++ = '-';
      return put_number(out, number < 0 ? 0 - value.as_unsigned() : value.as_unsigned());
    }
    case ValueType::real:
      return put_number(out, value.as_real());
    case ValueType::address:
      return put_address(out, value.as_address());
    case ValueType::community_id:
      return put_community_id(out, value.as_digest());
    case ValueType::enumeration: {
      const std::string_view name = column.name_of(value);
      return std::copy(name.begin(), name.end(), out);
    }
    case ValueType::boolean: {
      const std::string_view word = bool_text(value.as_bool());
      return std::copy(word.begin(), word.end(), out);
    }
    case ValueType::text: {
      const std::string_view text = value.as_text();
      if (column.type == kOctets) return put_hex(out, text);
      return std::copy(text.begin(), text.end(), out);
    }
  }
  return out;
}

/// Most bytes that put_value() may touch, except for texts and names of an enumeration.
inline constexpr std::size_t kLongestUnnamed = kMaxAddressChars + 2;
static_assert(kLongestUnnamed >= kCommunityIdChars && kLongestUnnamed >= kIsoTimeChars && kLongestUnnamed >= 1 + 32 &&
              kLongestUnnamed >= 1 + kMaxNumberChars);

/// Returns the most bytes that put_value() may touch.
inline std::size_t longest_value(const ColumnInfo& column) noexcept {
  std::size_t longest = column.type == kOctets ? 2 * kMostText : column.type == kText ? kMostText : kLongestUnnamed;
  for (const std::string& name : column.values) longest = std::max(longest, name.size());
  return longest;
}

}  // namespace parshall
