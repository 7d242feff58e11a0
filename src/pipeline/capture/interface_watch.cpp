// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/interface_watch.hpp"

#include <fmt/format.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace parshall {
namespace {

constexpr std::chrono::milliseconds kLookEvery{100};

}  // namespace

InterfaceWatch::InterfaceWatch(int socket, std::vector<int> several)
    : socket_(socket), several_(std::move(several)), next_look_(Clock::now() + kLookEvery), state_(now()) {}

void InterfaceWatch::look() noexcept {
  const Clock::time_point time = Clock::now();
  if (time < next_look_ || state() == InputState::gone) return;
  next_look_ = time + kLookEvery;
  state_.store(now(), std::memory_order_relaxed);
}

/// The index stays when an interface is renamed. An interface that was deleted and made again may have the same index,
/// but a socket bound before does not receive from it.
InputState InterfaceWatch::now() const noexcept {
  if (!several_.empty()) {
    InputState best = InputState::gone;
    for (const int index : several_) best = std::min(best, state_of_interface(socket_, index));
    return best;
  }
  sockaddr_ll bound{};
  socklen_t bytes = sizeof bound;
  if (::getsockname(socket_, reinterpret_cast<sockaddr*>(&bound), &bytes) != 0 || bound.sll_ifindex == 0)
    return InputState::up;
  return state_of_interface(socket_, bound.sll_ifindex);
}

InputState state_of_interface(int socket, int index) noexcept {
  if (index < 0) return InputState::gone;
  constexpr short kUp = IFF_UP | IFF_RUNNING;
  ifreq request{};
  request.ifr_ifindex = index;
  if (::ioctl(socket, SIOCGIFNAME, &request) != 0) return errno == ENODEV ? InputState::gone : InputState::up;
  if (::ioctl(socket, SIOCGIFFLAGS, &request) != 0) return InputState::up;
  return (request.ifr_flags & kUp) == kUp ? InputState::up : InputState::down;
}

Error interface_gone(const std::string& name) {
  return Error{fmt::format(
      "{} is gone: it was deleted, or moved to another network namespace; what came before is counted. Start again "
      "once it is there",
      name)};
}

}  // namespace parshall
