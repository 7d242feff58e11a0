// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/ipfix/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <string_view>

#include "pipeline/output/records/community_id.hpp"

namespace parshall {
namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000, kNsPerS = 1'000'000'000;
constexpr std::uint64_t kFrom1900 = 2'208'988'800;  ///< seconds from 1900 to 1970
constexpr std::uint16_t kDurationMs = 161, kBasicList = 291;

/// Columns of a flow's first packets, one each, which become a list.
struct FirstPackets {
  std::string_view before, behind;  ///< text around the packet's number
  std::uint16_t element;
  std::string_view name;
};
constexpr FirstPackets kFirstPackets[] = {{"ip_size_", "_bytes", 16, "ip_size_bytes"},
                                          {"iat_", "_ns", 17, "iat_ns"},
                                          {"tcp_flags_", "", 18, "packet_tcp_flags"}};

/// Returns the number of consecutive columns of that kind.
std::size_t count_columns(const FirstPackets& first, std::span<const ColumnInfo> columns) {
  std::size_t count = 0;
  while (count < columns.size() && columns[count].name == fmt::format("{}{}{}", first.before, count + 1, first.behind))
    ++count;
  return count;
}

std::optional<IpfixField> list_at(std::size_t column, std::span<const ColumnInfo> columns) {
  for (const FirstPackets& first : kFirstPackets) {
    const std::size_t count = count_columns(first, columns.subspan(column));
    if (count == 0) continue;
    return IpfixField{.column = column,
                      .ipfix = {0, kBasicList},
                      .encoding = IpfixEncoding::list,
                      .bytes = IpfixField::kVariable,
                      .columns = count,
                      .of = {kOwnPen, first.element},
                      .item_bytes = static_cast<std::uint16_t>(columns[column].type.bits / 8),
                      .of_name = first.name};
  }
  return std::nullopt;
}

/// Converts to seconds since 1900 and a fraction of 2^32.
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
    case ValueType::community_id:
    case ValueType::text:
      return is(info.type == kOctets ? IpfixEncoding::bytes : IpfixEncoding::text, IpfixField::kVariable);
    case ValueType::boolean:
      return is(IpfixEncoding::boolean, 1);
    case ValueType::enumeration:
      // End reasons have RFC 5102's numbers; other enumerations are written as text.
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
    if (const auto list = list_at(i, columns)) {
      fields.push_back(*list);
      i += list->columns - 1;
    } else if (columns[i].ipfix.element != 0) {
      fields.push_back(field_of(i, columns[i], times));
    } else {
      left_out.push_back(columns[i].name);
    }
  }
  return fields;
}

std::uint8_t ipfix_type(const IpfixField& field) noexcept {
  enum : std::uint8_t {
    octets,
    unsigned8,
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
    case IpfixEncoding::list:  // type of its items
      return static_cast<std::uint8_t>(unsigned8 + std::bit_width(unsigned{field.item_bytes}) - 1);
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
    case IpfixEncoding::bytes:
      return octets;
    case IpfixEncoding::address:
      break;
  }
  return ipv4;
}

/// Writes a length by RFC 7011, section 7: one byte, or 255 and two.
void IpfixBytes::length(std::size_t bytes) {
  constexpr std::size_t kLong = 255;
  number(std::min(bytes, kLong), 1);
  if (bytes >= kLong) number(bytes, 2);
}

void IpfixBytes::text(std::string_view text) {
  const std::size_t bytes_of = std::min<std::size_t>(text.size(), std::numeric_limits<std::uint16_t>::max());
  length(bytes_of);
  bytes({reinterpret_cast<const std::uint8_t*>(text.data()), bytes_of});
}

/// Writes a list by RFC 6313, section 4.5.1. It ends before the first absent value.
void IpfixBytes::list(const IpfixField& field, std::span<const Value> values) {
  constexpr std::size_t kHeaderBytes = 9;
  constexpr std::uint8_t kOrdered = 4;
  constexpr std::uint16_t kEnterprise = 0x8000;
  values = values.first(static_cast<std::size_t>(std::ranges::find_if_not(values, &Value::present) - values.begin()));
  length(kHeaderBytes + values.size() * field.item_bytes);
  number(kOrdered, 1);
  number(field.of.element | kEnterprise, 2);
  number(field.item_bytes, 2);
  number(field.of.pen, 4);
  for (const Value& value : values) number(value.as_unsigned(), field.item_bytes);
}

/// Writes a field; an absent value that has to be written becomes 0, or not-a-number.
void IpfixBytes::field(const IpfixField& field, const ColumnInfo& column, std::span<const Value> values) {
  const Value& value = values.front();
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
    case IpfixEncoding::bytes:
      return text(value.present() ? value.as_text() : std::string_view());
    case IpfixEncoding::text:
      if (!value.present()) return text({});
      if (column.type.value == ValueType::community_id) return text(community_id_text(value.as_digest()));
      return text(column.type.value == ValueType::text ? value.as_text() : column.name_of(value));
    case IpfixEncoding::list:
      return list(field, values);
  }
}

}  // namespace parshall
