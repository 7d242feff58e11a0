// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/output/records/column.hpp"
#include "pipeline/output/text/report.hpp"

namespace parshall {

/// Encoding of a value. Source: RFC 7011, section 6.
enum class IpfixEncoding : std::uint8_t {
  integer,
  ms,
  ntp,
  duration_ms,
  float32,
  float64,
  boolean,
  address,
  text,
  bytes,
  list  ///< list of integers: RFC 6313's basicList
};

/// Field of a data record, from one column.
struct IpfixField {
  std::size_t column = 0;
  IpfixElement ipfix;
  IpfixEncoding encoding = IpfixEncoding::integer;
  std::uint16_t bytes = 0;  ///< kVariable if the length is written with the value; for an address, that of IPv6
  bool nullable = false;
  std::size_t columns = 1;        ///< for a list: number of consecutive columns
  IpfixElement of{};              ///< for a list: element of its items
  std::uint16_t item_bytes = 0;   ///< for a list: bytes of each item
  std::string_view of_name = {};  ///< for a list: name of its items' element

  static constexpr std::uint16_t kVariable = 65535;

  /// Returns the element for flows of one IP version.
  std::uint16_t element(bool ipv6) const noexcept {
    const bool has_both =
        encoding == IpfixEncoding::address || (encoding == IpfixEncoding::integer && ipfix.other != 0);
    return has_both && ipv6 ? ipfix.other : ipfix.element;
  }
  std::uint16_t length(bool ipv6) const noexcept {
    return encoding == IpfixEncoding::address && !ipv6 ? std::uint16_t{4} : bytes;
  }
  /// Returns the element that may be private and need a description; for a list, that of its items.
  const IpfixElement& own() const noexcept { return encoding == IpfixEncoding::list ? of : ipfix; }
  bool operator==(const IpfixField&) const = default;
};

enum class IpfixTimes : std::uint8_t { ms, ns };

/// Makes fields for all columns with an element. `left_out` gets the names of the others.
std::vector<IpfixField> ipfix_fields(std::span<const ColumnInfo> columns, IpfixTimes times,
                                     std::vector<std::string>& left_out);

/// Returns the abstract data type of the field's element (RFC 5610).
std::uint8_t ipfix_type(const IpfixField& field) noexcept;

/// Appends to a message.
class IpfixBytes {
 public:
  explicit IpfixBytes(std::vector<std::uint8_t>& to) noexcept : to_(to) {}

  void number(std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = bytes; i-- > 0;) to_.push_back(static_cast<std::uint8_t>(value >> 8 * i));
  }
  void bytes(std::span<const std::uint8_t> bytes) { to_.insert(to_.end(), bytes.begin(), bytes.end()); }
  void text(std::string_view text);  ///< writes text with its length, truncated to 65,535 bytes
  /// Writes a field. `values` are those of the field's columns, the first of which is `column`.
  void field(const IpfixField& field, const ColumnInfo& column, std::span<const Value> values);

 private:
  void length(std::size_t bytes);  ///< at most 65,535
  void list(const IpfixField& field, std::span<const Value> values);

  std::vector<std::uint8_t>& to_;
};

}  // namespace parshall
