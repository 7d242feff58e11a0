// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/value_type.hpp"
#include "pipeline/output/value.hpp"

namespace parshall {

/// Whose an information element is where IANA has none (0): a private enterprise number.
inline constexpr std::uint32_t kOwnPen = 32473;      ///< RFC 5612's number for examples, until there is one of our own
inline constexpr std::uint32_t kReversePen = 29305;  ///< the same element, of what came back; RFC 5103

/// The information element of IPFIX that says the same. Source: RFC 7011, and IANA's registry of such elements.
struct IpfixElement {
  std::uint32_t pen = 0;
  std::uint16_t element = 0;  ///< 0: there is none
  std::uint16_t other = 0;    ///< of an IPv6 address; of a time in ns, where `element` has ms

  friend bool operator==(const IpfixElement&, const IpfixElement&) = default;
};

/// What a column is to a record: what identifies the flow, how much there was of it, when, or whatever was asked for.
enum class ColumnRole : std::uint8_t { key, count, time, asked };

/// How text for machines (CSV, JSON) has a number: as it is, a time as ISO 8601 in UTC, or digits in quotes for readers
/// whose numbers have 53 bits (JavaScript, jq).
enum class TextForm : std::uint8_t { number, iso_time, quoted_number };

/// All that an output has to know of a column.
struct ColumnInfo {
  std::string name;  ///< with its unit
  std::string unit = {};
  ColumnType type = {};
  bool nullable = true;
  ColumnRole role = ColumnRole::asked;
  IpfixElement ipfix = {};
  std::string help = {};
  std::vector<std::string> values = {};  ///< of an enumeration: names of 0, 1, ...
  TextForm form = TextForm::number;

  /// Returns its name in text: a time in ISO 8601 is not in ns.
  std::string_view text_name() const noexcept {
    constexpr std::string_view kNs = "_ns";
    const std::string_view whole = name;
    return form == TextForm::iso_time && whole.ends_with(kNs) ? whole.substr(0, whole.size() - kNs.size()) : whole;
  }
  /// Written as words, not as a number.
  bool is_text() const noexcept {
    return has_own_texts() || type.value == ValueType::enumeration || form != TextForm::number;
  }
  /// As words that are each value's own, not one of `values`.
  bool has_own_texts() const noexcept {
    return type.value == ValueType::address || type.value == ValueType::community_id;
  }
  const std::string& name_of(const Value& value) const noexcept { return values[value.as_unsigned()]; }
};

}  // namespace parshall
