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
  std::uint64_t timeout_ns = 30'000'000'000;  ///< a connection without a byte for so long is closed
  std::uint32_t connections = 65536;          ///< at a time, as far as the system lets this process have files
};

/// accepted = closed + reset + timed_out + failed + those that are open.
struct EchoServerCounts {
  std::uint64_t accepted = 0;
  std::uint64_t closed = 0;  ///< by the client, in order
  std::uint64_t reset = 0;   ///< by the client
  std::uint64_t timed_out = 0, failed = 0;
  std::uint64_t held_back = 0;  ///< times that none could be accepted: no more files, or no memory
  std::uint64_t bytes_received = 0, bytes_sent = 0;
  std::uint32_t open = 0, most_open = 0;

  std::uint64_t ended() const noexcept { return closed + reset + timed_out + failed; }
};

/// Sends back whatever comes on any connection. One thread, which calls step() again and again.
class EchoServer {
 public:
  /// Listens already.
  static Result<EchoServer> open(const EchoServerPlan& plan);

  /// Waits for events, a few milliseconds at most, and goes on with the connections that have some.
  void step() noexcept;

  /// Where it listens: the port that the system chose where none was asked for.
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
  std::vector<std::optional<ServedConnection>> connections_;  ///< by descriptor
  EchoServerCounts counts_;
  Accepting accepting_ = Accepting::yes;
  std::uint64_t looked_ns_ = 0;
};

}  // namespace parshall::tester
