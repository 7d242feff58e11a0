// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "base/file_handle.hpp"
#include "tester/closed_loop/endpoint.hpp"

namespace parshall::tester {

inline Endpoint loopback(std::uint16_t port) { return *Endpoint::parse("127.0.0.1:" + std::to_string(port)); }

/// Goes on with both sides until `done`, for some seconds at most.
template <class Step, class Done>
bool step_until(Step step, Done done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    step();
  }
  return true;
}

/// Closes with a reset.
inline void reset(FileHandle socket) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

/// Reads the bytes that are there now.
inline std::vector<std::uint8_t> read_some(const FileHandle& socket, std::size_t most = 65536) {
  std::vector<std::uint8_t> bytes(most);
  const ssize_t count = ::recv(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return bytes;
}

inline void write_all(const FileHandle& socket, std::span<const std::uint8_t> bytes) {
  ASSERT_EQ(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
}

/// A server that does whatever a test wants.
class Listener {
 public:
  Listener() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)) {
    const Endpoint any_port = loopback(0);
    EXPECT_EQ(::bind(socket_.get(), any_port.address(), any_port.length()), 0);
    EXPECT_EQ(::listen(socket_.get(), 128), 0);
  }
  Endpoint endpoint() const { return *Endpoint::of_socket(socket_.get()); }
  /// Returns the connection of the next client, if there is one.
  FileHandle accept() const { return FileHandle(::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK)); }

 private:
  FileHandle socket_;
};

/// A client that does whatever a test wants, connected.
inline FileHandle connect_to(const Endpoint& endpoint) {
  FileHandle socket(::socket(endpoint.family(), SOCK_STREAM, 0));
  EXPECT_EQ(::connect(socket.get(), endpoint.address(), endpoint.length()), 0);
  return socket;
}

/// A port that nobody listens on.
inline std::uint16_t free_port() { return Listener().endpoint().port(); }

}  // namespace parshall::tester
