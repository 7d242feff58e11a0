// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <arpa/inet.h>

#include <string>

namespace parshall {

/// Whether all of the text is an address of that family, AF_INET or AF_INET6; `to`: 4 or 16 bytes. inet_pton() alone
/// takes whatever is behind a zero byte.
inline bool read_ip(int family, const std::string& text, void* to) noexcept {
  return text.find('\0') == std::string::npos && ::inet_pton(family, text.c_str(), to) == 1;
}

/// Whether it is an address of either family, maybe of an interface (fe80::1%eth0), so that nobody has to be asked for
/// it.
inline bool is_ip(const std::string& host) {
  in6_addr address;
  return read_ip(AF_INET, host, &address) || read_ip(AF_INET6, host.substr(0, host.find('%')), &address);
}

}  // namespace parshall
