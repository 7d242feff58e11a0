// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace parshall::web {

/// Where a server listens.
struct Address {
  sockaddr_storage bytes{};
  socklen_t length = 0;

  bool is_loopback() const noexcept;  ///< nobody beyond this host reaches it
  std::uint16_t port() const noexcept;
  std::string text() const;      ///< "127.0.0.1:8080", "[::1]:8080"
  std::string known_as() const;  ///< likewise; of all addresses of the host, by its name
};

/// "HOST:PORT", or the port alone: then the host is 127.0.0.1. The host is "localhost" or an address, of IPv6 in [].
Result<Address> parse_address(const std::string& text);

/// Whether a Host header names this server as nobody else's name does: by an address, as localhost, or as `hostname`.
/// A name of another that resolves to this host is how a page from elsewhere would read what is here (DNS rebinding).
bool is_own_host(std::string_view header, std::string_view hostname);

}  // namespace parshall::web
