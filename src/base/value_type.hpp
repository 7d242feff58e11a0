// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace parshall {

/// Kind of a column's values.
enum class ValueType : std::uint8_t {
  unsigned_integer,
  signed_integer,
  real,          ///< finite
  time,          ///< ns since 1970, unsigned
  address,       ///< IPv4 or IPv6
  enumeration,   ///< one of the names that the column defines
  flags,         ///< bits, each with its own meaning
  boolean,       ///< true or false
  community_id,  ///< hash of a flow's key by which other programs know it
  text,          ///< printable ASCII, at most kMostText characters; or as many bytes, see kOctets
};

/// Kind and width in bits of a column's values. Real numbers have 32 bits, which is already more than their accuracy;
/// text output has all the digits that were computed.
struct ColumnType {
  ValueType value = ValueType::real;
  std::uint8_t bits = 32;

  friend bool operator==(const ColumnType&, const ColumnType&) = default;
};

inline constexpr ColumnType kUint8{ValueType::unsigned_integer, 8}, kUint16{ValueType::unsigned_integer, 16},
    kUint32{ValueType::unsigned_integer, 32}, kUint64{ValueType::unsigned_integer, 64},
    kInt64{ValueType::signed_integer, 64}, kFloat32{ValueType::real, 32}, kFloat64{ValueType::real, 64},
    kTime{ValueType::time, 64}, kAddress{ValueType::address, 128}, kEnum8{ValueType::enumeration, 8},
    kEnum16{ValueType::enumeration, 16}, kFlags16{ValueType::flags, 16}, kBool{ValueType::boolean, 1},
    kCommunityId{ValueType::community_id, 160}, kText{ValueType::text, 0};
/// Bytes as they were sent, in hexadecimal digits where a format has text alone.
inline constexpr ColumnType kOctets{ValueType::text, 8};

inline constexpr std::size_t kMostText = 255;  ///< characters of a text, or bytes

/// Returns the type's name: "uint64", "float32", "time", "address", "enum8", "flags16", "bool", "text" or "bytes".
inline std::string type_text(ColumnType type) {
  switch (type.value) {
    case ValueType::time:
      return "time";
    case ValueType::address:
      return "address";
    case ValueType::unsigned_integer:
      return "uint" + std::to_string(type.bits);
    case ValueType::signed_integer:
      return "int" + std::to_string(type.bits);
    case ValueType::real:
      return "float" + std::to_string(type.bits);
    case ValueType::enumeration:
      return "enum" + std::to_string(type.bits);
    case ValueType::flags:
      return "flags" + std::to_string(type.bits);
    case ValueType::boolean:
      return "bool";
    case ValueType::text:
      return type == kOctets ? "bytes" : "text";
    case ValueType::community_id:
      return "text";
  }
  return {};
}

}  // namespace parshall
