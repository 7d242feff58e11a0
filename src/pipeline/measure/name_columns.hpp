// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace parshall {

/// Names a column for what a flow's first payload packets say of it, or answers of DNS of its addresses.
enum class NameColumn : std::uint8_t {
  server_name,
  alpn,
  tls_version,
  ja4,
  http_host,
  http_user_agent,
  dns_name,
  dns_rcode,
  src_name,
  dst_name,
};
inline constexpr std::string_view kNameColumnNames[] = {
    "server_name",     "alpn",     "tls_version", "ja4",      "http_host",
    "http_user_agent", "dns_name", "dns_rcode",   "src_name", "dst_name"};
inline constexpr std::size_t kPayloadColumns = 8;  ///< those of payload, which come first
/// Requires that it is one of these.
constexpr NameColumn name_column(std::string_view name) noexcept {
  return static_cast<NameColumn>(std::ranges::find(kNameColumnNames, name) - std::begin(kNameColumnNames));
}

/// A set of them.
class NameColumns {
 public:
  constexpr void add(NameColumn column) noexcept { bits_ = static_cast<std::uint16_t>(bits_ | 1u << index(column)); }
  constexpr bool has(NameColumn column) const noexcept { return (bits_ >> index(column) & 1) != 0; }
  constexpr bool empty() const noexcept { return bits_ == 0; }
  /// Returns whether a column of what payloads say is among them.
  constexpr bool has_any_of_payload() const noexcept { return (bits_ & ((1u << kPayloadColumns) - 1)) != 0; }
  /// Returns whether a column that QUIC can fill is among them.
  constexpr bool has_any_of_quic() const noexcept {
    return has(NameColumn::server_name) || has(NameColumn::alpn) || has(NameColumn::tls_version) ||
           has(NameColumn::ja4);
  }
  /// Returns whether names of addresses are among them.
  constexpr bool has_any_of_addresses() const noexcept { return bits_ >> kPayloadColumns != 0; }
  friend bool operator==(const NameColumns&, const NameColumns&) = default;

 private:
  static constexpr unsigned index(NameColumn column) noexcept { return static_cast<unsigned>(column); }
  std::uint16_t bits_ = 0;
};

}  // namespace parshall
