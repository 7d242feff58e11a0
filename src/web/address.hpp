// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace parshall::web {

/// Address that a server listens on.
struct Address {
  sockaddr_storage bytes{};
  socklen_t length = 0;

  bool is_loopback() const noexcept;  ///< only this host can reach it
  std::uint16_t port() const noexcept;
  std::string text() const;      ///< "127.0.0.1:8080", "[::1]:8080"
  std::string known_as() const;  ///< the same, but the host's name if it listens on all addresses
};

/// Parses "HOST:PORT", or a port alone, for host 127.0.0.1. The host is "localhost" or an address, with IPv6 in [].
Result<Address> parse_address(const std::string& text);

/// Returns true if a Host header names this server by an address, localhost, or `hostname`. Any other name that
/// resolves to this host could let a page from elsewhere read this server (DNS rebinding).
bool is_own_host(std::string_view header, std::string_view hostname);

}  // namespace parshall::web
