// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace parshall::tester {

/// Address and port of one end of a connection, IPv4 or IPv6.
class Endpoint {
 public:
  /// Parses "192.0.2.1:7777" or "[2001:db8::1]:7777".
  static Result<Endpoint> parse(const std::string& text);

  /// Returns the wildcard address of that family, with the port.
  static Endpoint any(int family, std::uint16_t port) noexcept;

  /// Returns the local end of a socket.
  static Result<Endpoint> of_socket(int fd);

  int family() const noexcept { return storage_.ss_family; }
  std::uint16_t port() const noexcept;
  std::string text() const;

  const sockaddr* address() const noexcept { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t length() const noexcept;

 private:
  sockaddr_storage storage_{};
};

}  // namespace parshall::tester
