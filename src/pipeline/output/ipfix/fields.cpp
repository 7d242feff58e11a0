// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/ipfix/fields.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace parshall {
namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000, kNsPerS = 1'000'000'000;
constexpr std::uint64_t kFrom1900 = 2'208'988'800;  ///< seconds to 1970
constexpr std::uint16_t kDurationMs = 161;

/// Seconds since 1900 and a fraction of 2^32.
std::uint64_t ntp(std::uint64_t ns) noexcept {
  return (ns / kNsPerS + kFrom1900) << 32 | ((ns % kNsPerS) << 32) / kNsPerS;
}

IpfixField field_of(std::size_t column, const ColumnInfo& info, IpfixTimes times) noexcept {
  IpfixField field{.column = column, .ipfix = info.ipfix, .nullable = info.nullable};
  const auto is = [&](IpfixEncoding encoding, std::size_t bytes) {
    field.encoding = encoding;
    field.bytes = static_cast<std::uint16_t>(bytes);
    return field;
  };
  switch (info.type.value) {
    case ValueType::time:
      if (info.ipfix.pen != 0) return is(IpfixEncoding::ntp, 8);
      if (times == IpfixTimes::ns && info.ipfix.other != 0) {
        field.ipfix.element = info.ipfix.other;
        return is(IpfixEncoding::ntp, 8);
      }
      return is(IpfixEncoding::ms, 8);
    case ValueType::address:
      return is(IpfixEncoding::address, 16);
    case ValueType::real:
      return info.type.bits == 32 ? is(IpfixEncoding::float32, 4) : is(IpfixEncoding::float64, 8);
    case ValueType::boolean:
      return is(IpfixEncoding::boolean, 1);
    case ValueType::enumeration:
      // That of end reasons has RFC 5102's numbers; other names are written as such.
      return info.ipfix == IpfixElement{0, 136} ? is(IpfixEncoding::integer, 1)
                                                : is(IpfixEncoding::text, IpfixField::kVariable);
    case ValueType::signed_integer:
      if (info.ipfix == IpfixElement{0, kDurationMs}) return is(IpfixEncoding::duration_ms, 4);
      break;
    case ValueType::unsigned_integer:
    case ValueType::flags:
      break;
  }
  return is(IpfixEncoding::integer, info.type.bits / 8);
}

}  // namespace

std::vector<IpfixField> ipfix_fields(std::span<const ColumnInfo> columns, IpfixTimes times,
                                     std::vector<std::string>& left_out) {
  std::vector<IpfixField> fields;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].ipfix.element == 0)
      left_out.push_back(columns[i].name);
    else
      fields.push_back(field_of(i, columns[i], times));
  }
  return fields;
}

std::uint8_t ipfix_type(const IpfixField& field) noexcept {
  enum : std::uint8_t {
    unsigned8 = 1,
    unsigned16,
    unsigned32,
    unsigned64,
    float32 = 9,
    float64,
    boolean,
    string = 13,
    milliseconds = 15,
    nanoseconds = 17,
    ipv4 = 18
  };
  switch (field.encoding) {
    case IpfixEncoding::integer:
      return static_cast<std::uint8_t>(unsigned8 + std::bit_width(unsigned{field.bytes}) - 1);
    case IpfixEncoding::duration_ms:
      return unsigned32;
    case IpfixEncoding::ms:
      return milliseconds;
    case IpfixEncoding::ntp:
      return nanoseconds;
    case IpfixEncoding::float32:
      return float32;
    case IpfixEncoding::float64:
      return float64;
    case IpfixEncoding::boolean:
      return boolean;
    case IpfixEncoding::text:
      return string;
    case IpfixEncoding::address:
      break;
  }
  return ipv4;
}

/// RFC 7011, section 7: one byte of length, or 255 and two.
void IpfixBytes::text(std::string_view text) {
  constexpr std::size_t kLong = 255;
  const std::size_t length = std::min<std::size_t>(text.size(), std::numeric_limits<std::uint16_t>::max());
  if (length < kLong) {
    number(length, 1);
  } else {
    number(kLong, 1);
    number(length, 2);
  }
  bytes({reinterpret_cast<const std::uint8_t*>(text.data()), length});
}

/// What is absent, where that was not to be: 0, or no number.
void IpfixBytes::field(const IpfixField& field, const ColumnInfo& column, const Value& value) {
  switch (field.encoding) {
    case IpfixEncoding::integer:
      return number(value.as_unsigned(), field.bytes);
    case IpfixEncoding::ms:
      return number(value.as_unsigned() / kNsPerMs, field.bytes);
    case IpfixEncoding::ntp:
      return number(ntp(value.as_unsigned()), field.bytes);
    case IpfixEncoding::duration_ms: {
      const auto ms = static_cast<std::uint64_t>(std::max<std::int64_t>(0, value.as_signed())) / kNsPerMs;
      return number(std::min<std::uint64_t>(ms, std::numeric_limits<std::uint32_t>::max()), field.bytes);
    }
    case IpfixEncoding::float32: {
      constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
      const float real = value.present() ? static_cast<float>(value.as_real()) : kNone;
      return number(std::bit_cast<std::uint32_t>(real), field.bytes);
    }
    case IpfixEncoding::float64: {
      constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
      return number(std::bit_cast<std::uint64_t>(value.present() ? value.as_real() : kNone), field.bytes);
    }
    case IpfixEncoding::boolean:
      return number(value.as_bool() ? 1 : 2, field.bytes);  // RFC 7011, section 6.1.5
    case IpfixEncoding::address:
      return bytes(value.as_address());
    case IpfixEncoding::text:
      return text(value.present() ? std::string_view(column.name_of(value)) : std::string_view());
  }
}

}  // namespace parshall
