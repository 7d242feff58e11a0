// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/interface_watch.hpp"

#include <fmt/format.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>

namespace parshall {
namespace {

constexpr std::chrono::milliseconds kLookEvery{100};

int bound_to(int socket) noexcept {
  sockaddr_ll bound{};
  socklen_t bytes = sizeof bound;
  return ::getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &bytes) == 0 ? bound.sll_ifindex : 0;
}

}  // namespace

InterfaceWatch::InterfaceWatch(int socket) noexcept : InterfaceWatch(socket, bound_to(socket)) {}

InterfaceWatch::InterfaceWatch(const LinkState& link) noexcept : InterfaceWatch(link.socket(), link.index()) {}

InterfaceWatch::InterfaceWatch(int socket, int index) noexcept
    : socket_(socket), index_(index), next_look_(Clock::now() + kLookEvery), state_(now()) {}

void InterfaceWatch::look() noexcept {
  const Clock::time_point time = Clock::now();
  if (time < next_look_ || state() == InputState::gone) return;
  next_look_ = time + kLookEvery;
  state_.store(now(), std::memory_order_relaxed);
}

/// The number stays when the name changes, and no other gets it.
InputState InterfaceWatch::now() const noexcept {
  constexpr short kUp = IFF_UP | IFF_RUNNING;
  ifreq request{};
  request.ifr_ifindex = index_;
  if (::ioctl(socket_, SIOCGIFNAME, &request) != 0) return errno == ENODEV ? InputState::gone : InputState::up;
  if (::ioctl(socket_, SIOCGIFFLAGS, &request) != 0) return InputState::up;  // renamed meanwhile
  return (request.ifr_flags & kUp) == kUp ? InputState::up : InputState::down;
}

Error interface_gone(const std::string& name) {
  return Error{fmt::format(
      "{} is gone: it was deleted, or moved to another network namespace; what came before is counted. Start again "
      "once it is there",
      name)};
}

}  // namespace parshall
