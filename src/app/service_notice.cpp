// SPDX-License-Identifier: Apache-2.0
#include "app/service_notice.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>

namespace parshall::cli {
namespace {

std::optional<std::uint64_t> number_in(const char* variable) noexcept {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  const char* const end = text + std::strlen(text);
  std::uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text, end, number);
  return error == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

/// Connects the socket, so that each notice is one call that never waits.
int connect_to(std::string_view path) noexcept {
  sockaddr_un address{};
  if (path.empty() || path.size() >= sizeof address.sun_path) return -1;
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, path.size());
  if (path.front() == '@') address.sun_path[0] = '\0';  // abstract socket name
  const int made = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  if (made < 0 || ::connect(made, reinterpret_cast<const sockaddr*>(&address), bytes) == 0) return made;
  ::close(made);
  return -1;
}

}  // namespace

ServiceNotice::ServiceNotice() {
  if (const char* const path = std::getenv("NOTIFY_SOCKET")) socket_ = connect_to(path);
  const auto watchdog_us = number_in("WATCHDOG_USEC");
  const auto pid = number_in("WATCHDOG_PID");
  if (watchdog_us && (!pid || *pid == static_cast<std::uint64_t>(::getpid())))
    watchdog_every_ = std::chrono::microseconds(*watchdog_us / 4);
}

ServiceNotice::~ServiceNotice() {
  if (socket_ >= 0) ::close(socket_);
}

void ServiceNotice::reloading() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  char text[64];
  const auto end = fmt::format_to_n(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC={}",
                                    std::uint64_t(now.tv_sec) * 1'000'000 + std::uint64_t(now.tv_nsec) / 1000);
  send({text, end.out});
}

void ServiceNotice::look(const std::function<std::string()>& status, const std::function<bool()>& goes_on) {
  if (socket_ < 0) return;
  const auto now = Clock::now();
  if (now >= next_status_) {
    next_status_ = now + std::chrono::seconds(1);
    send("STATUS=" + status());
  }
  if (watchdog_every_ == Clock::duration(0) || now < next_watchdog_) return;
  next_watchdog_ = now + watchdog_every_;
  if (goes_on()) send("WATCHDOG=1");
}

/// Sends a notice; a manager that reads too slowly misses it.
void ServiceNotice::send(std::string_view text) noexcept {
  if (socket_ >= 0) (void)!::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
}

}  // namespace parshall::cli
