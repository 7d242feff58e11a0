// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/value_histogram.hpp"
#include "tester/closed_loop/echo_exchange.hpp"
#include "tester/closed_loop/endpoint.hpp"
#include "tester/closed_loop/source_ports.hpp"

namespace parshall::tester {

/// How a client closes a connection.
enum class EchoClose : std::uint8_t {
  fin,  ///< in order, as programs do: its port stays in TIME_WAIT
  rst,  ///< at once (SO_LINGER of 0 s): no TIME_WAIT, two packets fewer, and the server sees a reset
};

struct EchoClientsPlan {
  Endpoint server;
  std::uint32_t clients = 1;  ///< simultaneous connections
  std::size_t message_bytes = 512;
  std::uint64_t connections = 0;  ///< total of all clients; 0: no limit
  std::uint64_t duration_ns = 0;  ///< no connection begins after this; 0: no limit
  std::uint64_t timeout_ns = 5'000'000'000;
  std::uint16_t first_port = 1024;
  std::uint32_t ports = 64512;
  EchoClose close = EchoClose::fin;
  std::uint64_t seed = 1;
};

/// Counts of connections. Once all have ended, begun = finished + failed + abandoned.
struct EchoClientsCounts {
  std::uint64_t begun = 0, finished = 0, abandoned = 0;
  std::array<std::uint64_t, kEchoFailures.size()> failed_by{};
  std::uint64_t bytes_sent = 0, bytes_received = 0;
  std::uint64_t ports_skipped = 0;  ///< in use, or in TIME_WAIT
  int last_error = 0;               ///< errno of the last failure that had one
  ValueHistogram connection_ns;     ///< for finished ones: from opening the socket until the echo is complete
  ValueHistogram echo_ns;           ///< the same, from the first byte sent
  std::vector<std::uint64_t> finished_by_client;

  std::uint64_t failed() const noexcept;
};

/// Runs clients that connect, send a message, wait for its echo, close and connect again, each with one connection at a
/// time. One thread calls step() repeatedly.
///
/// Cost:   six system calls a connection, and a check of each client every 10 ms.
/// Full:   after a failure a client pauses for 10 ms, and twice as long after each further failure, up to a second.
///         Without a free port it retries at the same rate until the connection's timeout. If nothing finishes during
///         three timeouts, all clients give up.
class EchoClients {
 public:
  static constexpr std::size_t kMostBytes = 1 << 20;  ///< limit for a message

  static Result<EchoClients> open(const EchoClientsPlan& plan);

  /// Waits for events for a few milliseconds at most, and continues the connections that have some.
  void step() noexcept;

  bool finished() const noexcept { return !may_begin_ && under_way_ == 0; }
  bool gave_up() const noexcept { return gave_up_; }

  /// Ends all connections at once.
  void abandon() noexcept;

  const EchoClientsCounts& counts() const noexcept { return counts_; }
  /// Returns the time from the start of the first connection to the end of the last one.
  std::uint64_t elapsed_ns() const noexcept { return last_ns_ - first_ns_; }
  /// Returns for how long connections began, if the plan limits that; afterwards, open ones are only waited for.
  std::uint64_t beginning_ns() const noexcept {
    return plan_.duration_ns == 0 ? elapsed_ns() : std::min(elapsed_ns(), plan_.duration_ns);
  }

 private:
  struct Client {
    std::optional<EchoExchange> exchange;
    std::uint64_t waiting_since_ns = 0;  ///< waiting for a port since; 0: not waiting
    std::uint64_t rests_until_ns = 0;
    std::uint32_t failures = 0;  ///< successive failures
  };
  enum class Attempt : std::uint8_t { begun, port_taken, failed };

  EchoClients(const EchoClientsPlan& plan, FileHandle epoll);

  void begin(std::uint32_t number, std::uint64_t now_ns) noexcept;
  Attempt try_port(std::uint32_t number, std::uint16_t port, std::uint64_t now_ns) noexcept;
  void advance(std::uint32_t number) noexcept;
  void end(Client& client, std::uint64_t now_ns) noexcept;
  void fail(Client& client, EchoFailure failure, std::uint64_t now_ns) noexcept;
  void look_around(std::uint64_t now_ns) noexcept;
  std::span<const std::uint8_t> message(std::uint64_t connection) const noexcept;

  EchoClientsPlan plan_;
  FileHandle epoll_;
  SourcePorts ports_;
  std::vector<std::uint8_t> pattern_, scratch_;
  std::vector<Client> clients_;
  EchoClientsCounts counts_;
  bool may_begin_ = true, gave_up_ = false;
  std::uint32_t under_way_ = 0;
  std::uint64_t first_ns_ = 0, last_ns_ = 0, last_finish_ns_ = 0, looked_ns_ = 0;
};

}  // namespace parshall::tester
