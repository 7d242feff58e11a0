// SPDX-License-Identifier: Apache-2.0
#include "tester/closed_loop/served_connection.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace parshall::tester {
namespace {

ServedConnection::State state_of(int error_number, ServedConnection::State unready) noexcept {
  if (error_number == EAGAIN || error_number == EINTR) return unready;
  const bool is_reset = error_number == ECONNRESET || error_number == EPIPE;
  return is_reset ? ServedConnection::State::reset : ServedConnection::State::failed;
}

}  // namespace

ServedConnection::State ServedConnection::advance(std::span<std::uint8_t> scratch, std::uint64_t now_ns) noexcept {
  return state_ = step(scratch, now_ns);
}

ServedConnection::State ServedConnection::step(std::span<std::uint8_t> scratch, std::uint64_t now_ns) noexcept {
  if (!waiting_.empty()) {
    const std::vector<std::uint8_t> bytes = std::move(waiting_);
    waiting_.clear();
    return write(bytes, now_ns);
  }
  const ssize_t count = ::recv(socket_.get(), scratch.data(), scratch.size(), 0);
  if (count < 0) return state_of(errno, State::reading);
  if (count == 0) return State::closed;
  active_ns_ = now_ns;
  received_ += static_cast<std::uint64_t>(count);
  return write(scratch.first(static_cast<std::size_t>(count)), now_ns);
}

ServedConnection::State ServedConnection::write(std::span<const std::uint8_t> bytes, std::uint64_t now_ns) noexcept {
  ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (count < 0) {
    if (const State state = state_of(errno, State::writing); state != State::writing) return state;
    count = 0;
  }
  if (count != 0) active_ns_ = now_ns;
  sent_ += static_cast<std::uint64_t>(count);
  if (static_cast<std::size_t>(count) == bytes.size()) return State::reading;
  waiting_.assign(bytes.begin() + count, bytes.end());
  return State::writing;
}

}  // namespace parshall::tester
