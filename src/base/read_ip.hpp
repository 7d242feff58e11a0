// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <arpa/inet.h>

#include <string>

namespace parshall {

/// Returns whether all of `text` is an address of `family`, AF_INET or AF_INET6. Writes its 4 or 16 bytes to `to`.
/// inet_pton() alone ignores what follows a zero byte.
inline bool read_ip(int family, const std::string& text, void* to) noexcept {
  return text.find('\0') == std::string::npos && ::inet_pton(family, text.c_str(), to) == 1;
}

/// Returns whether `host` is an IPv4 or IPv6 address, possibly with an interface (fe80::1%eth0), and needs no
/// resolving.
inline bool is_ip(const std::string& host) {
  in6_addr address;
  return read_ip(AF_INET, host, &address) || read_ip(AF_INET6, host.substr(0, host.find('%')), &address);
}

}  // namespace parshall
