// SPDX-License-Identifier: Apache-2.0
#include "engine/arrivals.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <thread>

namespace parshall {

Arrivals::Arrivals(std::span<const std::unique_ptr<Lane>> lanes) : lanes_(lanes) {
  for (const auto& lane : lanes)
    if (const auto descriptor = lane->source().descriptor()) waits_.push_back({*descriptor, POLLIN, 0});
  if (waits_.size() != lanes.size()) waits_.clear();
}

void Arrivals::sleep() noexcept {
  const int ready = ::poll(waits_.data(), waits_.size(), kLongest.count());
  for (const auto& lane : lanes_) lane->read_device_next();
  if (ready <= 0 || std::ranges::any_of(waits_, [](const pollfd& wait) { return (wait.revents & POLLIN) != 0; }))
    return;
  for (const pollfd& wait : waits_) {  // clear the error of an interface that went down, or poll() returns at once for
                                       // ever
    int error = 0;
    socklen_t bytes = sizeof error;
    ::getsockopt(wait.fd, SOL_SOCKET, SO_ERROR, &error, &bytes);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace parshall
