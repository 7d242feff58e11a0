// SPDX-License-Identifier: Apache-2.0
#include "tester/closed_loop/echo_exchange.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "tester/closed_loop/steady_time.hpp"

namespace parshall::tester {

EchoFailure failure_of(int error_number) noexcept {
  switch (error_number) {
    case ECONNREFUSED:
      return EchoFailure::refused;
    case ECONNRESET:
    case ECONNABORTED:
    case EPIPE:
      return EchoFailure::reset;
    case ETIMEDOUT:
      return EchoFailure::timed_out;
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ENETDOWN:
      return EchoFailure::unreachable;
    default:
      return EchoFailure::other;
  }
}

EchoExchange::State EchoExchange::fail(EchoFailure failure, int error_number) noexcept {
  failure_ = failure;
  error_number_ = error_number;
  return State::failed;
}

EchoExchange::State EchoExchange::advance(std::span<std::uint8_t> scratch) noexcept {
  // The other end may run, and answer, before send() returns, so each time is taken at its own place.
  if (sent_ == 0) sending_ns_ = steady_ns();
  while (sent_ < message_.size()) {
    const ssize_t count = ::send(socket_.get(), message_.data() + sent_, message_.size() - sent_, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;  // also while connecting
    if (count < 0) return fail(failure_of(errno), errno);
    sent_ += static_cast<std::size_t>(count);
  }
  while (sent_ != 0) {
    const std::size_t wanted = message_.size() - received_ + 1;
    const ssize_t count = ::recv(socket_.get(), scratch.data(), std::min(scratch.size(), wanted), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;
    if (count < 0) return fail(failure_of(errno), errno);
    if (count == 0) return fail(EchoFailure::closed_early, 0);
    const auto came = scratch.first(static_cast<std::size_t>(count));
    if (received_ + came.size() > sent_ || !std::ranges::equal(came, message_.subspan(received_, came.size())))
      return fail(EchoFailure::wrong_echo, 0);
    received_ += came.size();
    if (received_ < message_.size()) continue;
    finished_ns_ = steady_ns();
    return State::finished;
  }
  return State::open;
}

}  // namespace parshall::tester
