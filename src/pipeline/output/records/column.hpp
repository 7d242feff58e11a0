// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/value_type.hpp"
#include "pipeline/output/records/value.hpp"

namespace parshall {

/// Private enterprise numbers (PEN) of information elements that are not IANA's (0).
inline constexpr std::uint32_t kOwnPen = 32473;  ///< RFC 5612's number for examples; we have none of our own yet
inline constexpr std::uint32_t kCesnetPen = 8057, kFlowmonPen = 39499;  ///< elements of ipfixprobe
inline constexpr std::uint32_t kReversePen = 29305;  ///< the same element for the reverse direction; RFC 5103

/// IPFIX information element of a column. Source: RFC 7011, and IANA's registry of elements.
struct IpfixElement {
  std::uint32_t pen = 0;
  std::uint16_t element = 0;  ///< 0 means none
  std::uint16_t other = 0;    ///< element for an IPv6 address, or for a time in ns if `element` has ms

  friend bool operator==(const IpfixElement&, const IpfixElement&) = default;
};

/// Role of a column in a record: part of the key, count, time, or something requested.
enum class ColumnRole : std::uint8_t { key, count, time, asked };

/// Form of a number in text for machines (CSV, JSON): the number itself, a time as ISO 8601 in UTC, or quoted digits.
/// The last is for readers whose numbers have 53 bits (JavaScript, jq).
enum class TextForm : std::uint8_t { number, iso_time, quoted_number };

/// Everything that an output needs to know about a column.
struct ColumnInfo {
  std::string name;  ///< name with its unit
  std::string unit = {};
  ColumnType type = {};
  bool nullable = true;
  ColumnRole role = ColumnRole::asked;
  IpfixElement ipfix = {};
  std::string help = {};
  std::vector<std::string> values = {};  ///< for an enumeration: names of 0, 1, ...
  TextForm form = TextForm::number;

  /// Returns its name in text: without "_ns" for a time in ISO 8601.
  std::string_view text_name() const noexcept {
    constexpr std::string_view kNs = "_ns";
    const std::string_view whole = name;
    return form == TextForm::iso_time && whole.ends_with(kNs) ? whole.substr(0, whole.size() - kNs.size()) : whole;
  }
  /// Returns whether it is written as words, not as a number.
  bool is_text() const noexcept {
    return has_own_texts() || type.value == ValueType::enumeration || form != TextForm::number;
  }
  /// Returns whether each value has its own text, not one of `values`.
  bool has_own_texts() const noexcept {
    return type.value == ValueType::address || type.value == ValueType::community_id || type.value == ValueType::text;
  }
  const std::string& name_of(const Value& value) const noexcept { return values[value.as_unsigned()]; }
};

}  // namespace parshall
