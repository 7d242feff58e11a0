// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/transport/connection.hpp"

#include <fmt/format.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

namespace parshall {

std::string certificate_bundle() {
  constexpr const char* kFiles[] = {
      "/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Arch, Gentoo
      "/etc/pki/tls/certs/ca-bundle.crt",    // Fedora, RHEL
      "/etc/ssl/ca-bundle.pem",              // SUSE
      "/etc/ssl/cert.pem",                   // Alpine
  };
  const auto found = std::ranges::find_if(kFiles, [](const char* path) { return ::access(path, R_OK) == 0; });
  return found == std::end(kFiles) ? std::string() : *found;
}

Result<FileHandle> connect_to(const Transport& transport, int type) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = type;
  addrinfo* found = nullptr;
  const std::string name = fmt::format("{}:{}", transport.host, transport.port);
  if (const int status = ::getaddrinfo(transport.host.c_str(), transport.port.c_str(), &wanted, &found); status != 0)
    return Error{fmt::format("{}: {}", name, ::gai_strerror(status))};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, ::freeaddrinfo);
  int wrong = 0;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    FileHandle socket(::socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC, each->ai_protocol));
    if (!socket) {
      wrong = errno;
      continue;
    }
    constexpr timeval kPatience{.tv_sec = 5, .tv_usec = 0};  // also applies to connecting
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
    if (::connect(socket.get(), each->ai_addr, each->ai_addrlen) == 0) return socket;
    wrong = errno;
  }
  return Error{fmt::format("{}: {}", name, std::strerror(wrong == EINPROGRESS ? ETIMEDOUT : wrong))};
}

std::ptrdiff_t StreamSocket::write(const void* bytes, std::size_t count) noexcept {
  ssize_t sent;
  do {
    sent = ::send(socket_.get(), bytes, count, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0)
    wrong_ = errno;
  else
    sent_ += static_cast<std::uint64_t>(sent);
  return sent;
}

std::uint64_t StreamSocket::acknowledged() const noexcept {
  int outstanding = 0;
  if (::ioctl(socket_.get(), SIOCOUTQ, &outstanding) != 0) return 0;
  return sent_ - std::min(sent_, static_cast<std::uint64_t>(outstanding));
}

bool StreamSocket::stands() noexcept {
  int wrong = 0;
  socklen_t bytes = sizeof wrong;
  if (wrong_ == 0 && ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &wrong, &bytes) == 0) wrong_ = wrong;
  return wrong_ == 0;
}

}  // namespace parshall
