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

/// How a client ends a connection.
enum class EchoClose : std::uint8_t {
  fin,  ///< as programs do: its port rests in TIME_WAIT
  rst,  ///< at once (SO_LINGER of 0 s): no TIME_WAIT, two packets less, and the server sees a reset
};

struct EchoClientsPlan {
  Endpoint server;
  std::uint32_t clients = 1;  ///< connections at a time
  std::size_t message_bytes = 512;
  std::uint64_t connections = 0;  ///< of all clients together; 0: no end
  std::uint64_t duration_ns = 0;  ///< after it none begins; 0: no end
  std::uint64_t timeout_ns = 5'000'000'000;
  std::uint16_t first_port = 1024;
  std::uint32_t ports = 64512;
  EchoClose close = EchoClose::fin;
  std::uint64_t seed = 1;
};

/// What became of the connections: begun = finished + those that failed + abandoned, once all have ended.
struct EchoClientsCounts {
  std::uint64_t begun = 0, finished = 0, abandoned = 0;
  std::array<std::uint64_t, kEchoFailures.size()> failed_by{};
  std::uint64_t bytes_sent = 0, bytes_received = 0;
  std::uint64_t ports_skipped = 0;  ///< since they were in use, or in TIME_WAIT
  int last_error = 0;               ///< errno of the last failure that had one
  ValueHistogram connection_ns;     ///< of finished ones: from their sockets until the echo is whole
  ValueHistogram echo_ns;           ///< likewise, from the first byte sent
  std::vector<std::uint64_t> finished_by_client;

  std::uint64_t failed() const noexcept;
};

/// Clients that connect, send a message, wait for its echo, close and connect again, each with one connection at a
/// time. One thread, which calls step() again and again.
///
/// Cost:  six system calls a connection, and a look at each client every 10 ms.
/// Full:  a client whose connection failed rests for 10 ms, and for twice as long with each failure that follows, up
///        to a second; without a free port it looks for one as often, until the time for a connection is up. Where
///        nothing at all finishes during three timeouts, they give up.
class EchoClients {
 public:
  static constexpr std::size_t kMostBytes = 1 << 20;  ///< of a message

  static Result<EchoClients> open(const EchoClientsPlan& plan);

  /// Waits for events, a few milliseconds at most, and goes on with the connections that have some.
  void step() noexcept;

  bool finished() const noexcept { return !may_begin_ && under_way_ == 0; }
  bool gave_up() const noexcept { return gave_up_; }

  /// Ends all connections where they are.
  void abandon() noexcept;

  const EchoClientsCounts& counts() const noexcept { return counts_; }
  /// From the first connection's begin to the last one's end.
  std::uint64_t elapsed_ns() const noexcept { return last_ns_ - first_ns_; }
  /// For how long of that connections began, where the plan says so: then those under way are only waited for.
  std::uint64_t beginning_ns() const noexcept {
    return plan_.duration_ns == 0 ? elapsed_ns() : std::min(elapsed_ns(), plan_.duration_ns);
  }

 private:
  struct Client {
    std::optional<EchoExchange> exchange;
    std::uint64_t waiting_since_ns = 0;  ///< for a port; 0: it is not
    std::uint64_t rests_until_ns = 0;
    std::uint32_t failures = 0;  ///< one after the other
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
