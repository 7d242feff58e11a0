// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/interface_watch.hpp"

#include <fmt/format.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace parshall {
namespace {

constexpr std::chrono::milliseconds kLookEvery{100};

}  // namespace

InterfaceWatch::InterfaceWatch(int socket) noexcept
    : socket_(socket), next_look_(Clock::now() + kLookEvery), state_(now()) {}

void InterfaceWatch::look() noexcept {
  const Clock::time_point time = Clock::now();
  if (time < next_look_ || state() == InputState::gone) return;
  next_look_ = time + kLookEvery;
  state_.store(now(), std::memory_order_relaxed);
}

/// The number stays when the name changes; one that was gone, and is back, may have it again, and the socket has not.
InputState InterfaceWatch::now() const noexcept {
  sockaddr_ll bound{};
  socklen_t bytes = sizeof bound;
  if (::getsockname(socket_, reinterpret_cast<sockaddr*>(&bound), &bytes) != 0) return InputState::up;
  if (bound.sll_ifindex < 0) return InputState::gone;
  constexpr short kUp = IFF_UP | IFF_RUNNING;
  ifreq request{};
  request.ifr_ifindex = bound.sll_ifindex;
  if (::ioctl(socket_, SIOCGIFNAME, &request) != 0 || ::ioctl(socket_, SIOCGIFFLAGS, &request) != 0)
    return InputState::up;
  return (request.ifr_flags & kUp) == kUp ? InputState::up : InputState::down;
}

Error interface_gone(const std::string& name) {
  return Error{fmt::format(
      "{} is gone: it was deleted, or moved to another network namespace; what came before is counted. Start again "
      "once it is there",
      name)};
}

}  // namespace parshall
