// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "tester/closed_loop/endpoint.hpp"
#include "tester/closed_loop/served_connection.hpp"

namespace parshall::tester {

struct EchoServerPlan {
  Endpoint listen;
  std::uint64_t timeout_ns = 30'000'000'000;  ///< closes a connection after this time without a byte
  std::uint32_t connections = 65536;          ///< most connections at a time; limited by the process's open files
};

/// Counts of connections: accepted = closed + reset + timed_out + failed + open.
struct EchoServerCounts {
  std::uint64_t accepted = 0;
  std::uint64_t closed = 0;  ///< by the client, in order
  std::uint64_t reset = 0;   ///< by the client
  std::uint64_t timed_out = 0, failed = 0;
  std::uint64_t held_back = 0;  ///< times that no connection could be accepted for lack of files or memory
  std::uint64_t bytes_received = 0, bytes_sent = 0;
  std::uint32_t open = 0, most_open = 0;

  std::uint64_t ended() const noexcept { return closed + reset + timed_out + failed; }
};

/// Sends back whatever comes on any connection. One thread calls step() repeatedly.
class EchoServer {
 public:
  /// Opens a server that listens.
  static Result<EchoServer> open(const EchoServerPlan& plan);

  /// Waits for events for a few milliseconds at most, and continues the connections that have some. Returns whether
  /// there were any.
  bool step() noexcept;

  /// Returns the address it listens on, with the port that the system chose if none was given.
  const Endpoint& endpoint() const noexcept { return endpoint_; }
  const EchoServerCounts& counts() const noexcept { return counts_; }

 private:
  enum class Accepting : std::uint8_t { yes, not_now };

  EchoServer(const EchoServerPlan& plan, FileHandle epoll, FileHandle listener, const Endpoint& endpoint);

  void accept_some(std::uint64_t now_ns) noexcept;
  void set_accepting(Accepting accepting) noexcept;
  void advance(int fd, std::uint64_t now_ns) noexcept;
  void end(int fd, std::uint64_t& counter) noexcept;
  void look_around(std::uint64_t now_ns) noexcept;

  EchoServerPlan plan_;
  FileHandle epoll_, listener_;
  Endpoint endpoint_;
  std::vector<std::uint8_t> scratch_;
  std::vector<std::optional<ServedConnection>> connections_;  ///< by file descriptor
  EchoServerCounts counts_;
  Accepting accepting_ = Accepting::yes;
  std::uint64_t looked_ns_ = 0;
};

}  // namespace parshall::tester
