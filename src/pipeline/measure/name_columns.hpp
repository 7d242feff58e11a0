// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace parshall {

/// Names a column for what a flow's first payload packets say of it.
enum class NameColumn : std::uint8_t {
  server_name,
  alpn,
  tls_version,
  ja4,
  http_host,
  http_user_agent,
  dns_name,
  dns_rcode,
};
inline constexpr std::string_view kNameColumnNames[] = {
    "server_name", "alpn", "tls_version", "ja4", "http_host", "http_user_agent", "dns_name", "dns_rcode"};
/// Requires that it is one of these.
constexpr NameColumn name_column(std::string_view name) noexcept {
  return static_cast<NameColumn>(std::ranges::find(kNameColumnNames, name) - std::begin(kNameColumnNames));
}

/// A set of them.
class NameColumns {
 public:
  constexpr void add(NameColumn column) noexcept { bits_ = static_cast<std::uint8_t>(bits_ | 1u << index(column)); }
  constexpr bool has(NameColumn column) const noexcept { return (bits_ >> index(column) & 1) != 0; }
  constexpr bool empty() const noexcept { return bits_ == 0; }
  friend bool operator==(const NameColumns&, const NameColumns&) = default;

 private:
  static constexpr unsigned index(NameColumn column) noexcept { return static_cast<unsigned>(column); }
  std::uint8_t bits_ = 0;
};

}  // namespace parshall
