// SPDX-License-Identifier: Apache-2.0
#include "tester/closed_loop/endpoint.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/read_ip.hpp"

namespace parshall::tester {
namespace {

sockaddr_in& v4(sockaddr_storage& storage) { return reinterpret_cast<sockaddr_in&>(storage); }
sockaddr_in6& v6(sockaddr_storage& storage) { return reinterpret_cast<sockaddr_in6&>(storage); }
const sockaddr_in& v4(const sockaddr_storage& storage) { return reinterpret_cast<const sockaddr_in&>(storage); }
const sockaddr_in6& v6(const sockaddr_storage& storage) { return reinterpret_cast<const sockaddr_in6&>(storage); }

}  // namespace

Result<Endpoint> Endpoint::parse(const std::string& text) {
  const Error error{fmt::format("{}: give an address and a port, such as 192.0.2.1:7777 or [2001:db8::1]:7777", text)};
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos) return error;
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data() + colon + 1, end, port);
  if (problem != std::errc() || rest != end) return error;
  std::string address = text.substr(0, colon);
  const bool in_brackets = address.size() > 2 && address.front() == '[' && address.back() == ']';
  if (in_brackets) address = address.substr(1, address.size() - 2);
  Endpoint endpoint = any(in_brackets ? AF_INET6 : AF_INET, port);
  void* const into = in_brackets ? static_cast<void*>(&v6(endpoint.storage_).sin6_addr)
                                 : static_cast<void*>(&v4(endpoint.storage_).sin_addr);
  if (!read_ip(endpoint.family(), address, into)) return error;
  return endpoint;
}

Endpoint Endpoint::any(int family, std::uint16_t port) noexcept {
  Endpoint endpoint;
  endpoint.storage_.ss_family = static_cast<sa_family_t>(family);
  if (family == AF_INET6)
    v6(endpoint.storage_).sin6_port = htons(port);
  else
    v4(endpoint.storage_).sin_port = htons(port);
  return endpoint;
}

Result<Endpoint> Endpoint::of_socket(int fd) {
  Endpoint endpoint;
  socklen_t length = sizeof endpoint.storage_;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&endpoint.storage_), &length) != 0)
    return Error{fmt::format("a socket has no address: {}", std::strerror(errno))};
  return endpoint;
}

std::uint16_t Endpoint::port() const noexcept {
  return ntohs(family() == AF_INET6 ? v6(storage_).sin6_port : v4(storage_).sin_port);
}

std::string Endpoint::text() const {
  char address[INET6_ADDRSTRLEN] = "?";
  if (family() == AF_INET6) {
    ::inet_ntop(AF_INET6, &v6(storage_).sin6_addr, address, sizeof address);
    return fmt::format("[{}]:{}", address, port());
  }
  ::inet_ntop(AF_INET, &v4(storage_).sin_addr, address, sizeof address);
  return fmt::format("{}:{}", address, port());
}

socklen_t Endpoint::length() const noexcept {
  return family() == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

}  // namespace parshall::tester
