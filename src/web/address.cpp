// SPDX-License-Identifier: Apache-2.0
#include "web/address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <strings.h>

#include <charconv>
#include <cstring>
#include <optional>

#include "base/host_name.hpp"
#include "base/read_ip.hpp"

namespace parshall::web {
namespace {

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [rest, problem] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (problem != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return port;
}

/// Parses an address without a port.
std::optional<Address> parse_host(std::string_view host) {
  Address address;
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    auto& in6 = reinterpret_cast<sockaddr_in6&>(address.bytes);
    in6.sin6_family = AF_INET6;
    address.length = sizeof in6;
    const std::string text(host.substr(1, host.size() - 2));
    if (!read_ip(AF_INET6, text, &in6.sin6_addr)) return std::nullopt;
    return address;
  }
  auto& in4 = reinterpret_cast<sockaddr_in&>(address.bytes);
  in4.sin_family = AF_INET;
  address.length = sizeof in4;
  const std::string text(host == "localhost" ? "127.0.0.1" : host);
  if (!read_ip(AF_INET, text, &in4.sin_addr)) return std::nullopt;
  return address;
}

bool same_name(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

bool Address::is_loopback() const noexcept {
  if (bytes.ss_family == AF_INET)
    return ntohl(reinterpret_cast<const sockaddr_in&>(bytes).sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(bytes).sin6_addr) != 0;
}

std::uint16_t Address::port() const noexcept {
  return ntohs(bytes.ss_family == AF_INET ? reinterpret_cast<const sockaddr_in&>(bytes).sin_port
                                          : reinterpret_cast<const sockaddr_in6&>(bytes).sin6_port);
}

std::string Address::text() const {
  char host[INET6_ADDRSTRLEN] = "";
  if (bytes.ss_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(bytes).sin_addr, host, sizeof host);
    return fmt::format("{}:{}", host, port());
  }
  ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6&>(bytes).sin6_addr, host, sizeof host);
  return fmt::format("[{}]:{}", host, port());
}

std::string Address::known_as() const {
  std::string known = text();
  for (const std::string_view all : {"0.0.0.0", "[::]"})
    if (known.starts_with(all)) return host_name() + known.substr(all.size());
  return known;
}

Result<Address> parse_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const bool alone = colon == std::string::npos;
  const auto port = parse_port(std::string_view(text).substr(alone ? 0 : colon + 1));
  auto address = parse_host(alone ? "127.0.0.1" : std::string_view(text).substr(0, colon));
  if (!port || !address)
    return Error{fmt::format(
        "{}: give HOST:PORT, such as 127.0.0.1:8080; HOST must be localhost or an address of this host ([::1])", text)};
  if (address->bytes.ss_family == AF_INET)
    reinterpret_cast<sockaddr_in&>(address->bytes).sin_port = htons(*port);
  else
    reinterpret_cast<sockaddr_in6&>(address->bytes).sin6_port = htons(*port);
  return *address;
}

bool is_own_host(std::string_view header, std::string_view hostname) {
  const std::size_t colon = header.rfind(':');
  std::string_view host = header;
  if (colon != std::string_view::npos && !header.ends_with(']')) {
    if (!parse_port(header.substr(colon + 1))) return false;
    host = header.substr(0, colon);
  }
  return same_name(host, "localhost") || (!hostname.empty() && same_name(host, hostname)) || parse_host(host);
}

}  // namespace parshall::web
