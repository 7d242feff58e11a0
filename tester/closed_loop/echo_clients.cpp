// SPDX-License-Identifier: Apache-2.0
#include "tester/closed_loop/echo_clients.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>

#include "tester/closed_loop/open_files.hpp"
#include "tester/closed_loop/steady_time.hpp"

namespace parshall::tester {
namespace {

constexpr std::uint64_t kLookNs = 10'000'000;  ///< between two checks of all clients
constexpr std::uint64_t kShortestRestNs = 10'000'000, kLongestRestNs = 1'000'000'000;
constexpr std::uint32_t kPortTries = 32;  ///< successive attempts
constexpr std::uint64_t kOtherFiles = 64;
constexpr std::uint64_t kPatience = 3;  ///< timeouts without a finished connection
constexpr std::size_t kPatterns = 251;  ///< distinct messages; a prime, to avoid patterns with other periods
constexpr int kEvents = 256;

}  // namespace

std::uint64_t EchoClientsCounts::failed() const noexcept {
  return std::accumulate(failed_by.begin(), failed_by.end(), std::uint64_t{0});
}

Result<EchoClients> EchoClients::open(const EchoClientsPlan& plan) {
  if (plan.first_port == 0 || plan.first_port + plan.ports > 65536)
    return Error{fmt::format("source ports {} to {}: ports must be from 1 to 65535", plan.first_port,
                             plan.first_port + plan.ports - 1)};
  if (const std::uint64_t files = allow_open_files(plan.clients + kOtherFiles); files < plan.clients + kOtherFiles)
    return Error{
        fmt::format("{} clients need {} open files, but this process may have {}: run `ulimit -n {}` as root, or give "
                    "fewer clients",
                    plan.clients, plan.clients + kOtherFiles, files, plan.clients + kOtherFiles)};
  FileHandle epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return Error{fmt::format("no epoll: {}", std::strerror(errno))};
  EchoClients clients(plan, std::move(epoll));
  if (clients.ports_.count() < plan.clients)
    return Error{fmt::format("{} clients need as many source ports, but there are {}: give more ports or fewer clients",
                             plan.clients, clients.ports_.count())};
  return clients;
}

// A connection from the server's own port could connect to itself if nothing listens there (RFC 9293, 3.5), so that
// port is left out.
EchoClients::EchoClients(const EchoClientsPlan& plan, FileHandle epoll)
    : plan_(plan),
      epoll_(std::move(epoll)),
      ports_(plan.first_port, plan.ports, plan.server.port(), plan.seed),
      pattern_(plan.message_bytes + kPatterns),
      scratch_(std::min<std::size_t>(plan.message_bytes + 1, 1 << 16)),
      clients_(plan.clients) {
  for (std::size_t i = 0; i < pattern_.size(); ++i) pattern_[i] = static_cast<std::uint8_t>(SplitMix64::mix(i));
  counts_.finished_by_client.resize(plan.clients);
}

std::span<const std::uint8_t> EchoClients::message(std::uint64_t connection) const noexcept {
  return std::span(pattern_).subspan(connection % kPatterns, plan_.message_bytes);
}

void EchoClients::step() noexcept {
  epoll_event events[kEvents];
  const int count = ::epoll_wait(epoll_.get(), events, kEvents, static_cast<int>(kLookNs / 1'000'000));
  for (int i = 0; i < count; ++i) advance(events[i].data.u32);
  if (const std::uint64_t now_ns = steady_ns(); now_ns - looked_ns_ >= kLookNs) look_around(now_ns);
}

/// Checks for timeouts and ended pauses, and decides whether to go on.
void EchoClients::look_around(std::uint64_t now_ns) noexcept {
  if (first_ns_ == 0) first_ns_ = last_ns_ = last_finish_ns_ = now_ns;
  looked_ns_ = now_ns;
  if (plan_.duration_ns != 0 && now_ns - first_ns_ >= plan_.duration_ns) may_begin_ = false;
  if (may_begin_ && now_ns - last_finish_ns_ > kPatience * plan_.timeout_ns) {
    gave_up_ = true;
    may_begin_ = false;
  }
  for (std::uint32_t number = 0; number < clients_.size(); ++number) {
    Client& client = clients_[number];
    if (client.exchange) {
      if (now_ns >= client.exchange->began_ns() + plan_.timeout_ns) fail(client, EchoFailure::timed_out, now_ns);
    } else if (may_begin_ && client.rests_until_ns <= now_ns) {
      begin(number, now_ns);
      now_ns = steady_ns();
    }
  }
}

void EchoClients::begin(std::uint32_t number, std::uint64_t now_ns) noexcept {
  if (plan_.duration_ns != 0 && now_ns - first_ns_ >= plan_.duration_ns) may_begin_ = false;
  if (plan_.connections != 0 && counts_.begun >= plan_.connections) may_begin_ = false;
  if (!may_begin_) return;
  Client& client = clients_[number];
  if (client.waiting_since_ns == 0) client.waiting_since_ns = now_ns;
  for (std::uint32_t i = 0; i < kPortTries; ++i) {
    if (try_port(number, ports_.next(), now_ns) != Attempt::port_taken) return;
    ++counts_.ports_skipped;
  }
  if (now_ns - client.waiting_since_ns < plan_.timeout_ns) {
    client.rests_until_ns = now_ns + kShortestRestNs;
    return;
  }
  ++counts_.begun;
  fail(client, EchoFailure::no_port, now_ns);
}

EchoClients::Attempt EchoClients::try_port(std::uint32_t number, std::uint16_t port, std::uint64_t now_ns) noexcept {
  Client& client = clients_[number];
  const auto give_up = [&](int error_number) {
    ++counts_.begun;
    counts_.last_error = error_number;
    fail(client, failure_of(error_number), now_ns);
    return Attempt::failed;
  };
  FileHandle socket(::socket(plan_.server.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return give_up(errno);
  // Otherwise a port in TIME_WAIT could not even be requested; connect() decides if it may be used again.
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (plan_.close == EchoClose::rst) {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }
  const Endpoint own = Endpoint::any(plan_.server.family(), port);
  if (::bind(socket.get(), own.address(), own.length()) != 0)
    return errno == EADDRINUSE ? Attempt::port_taken : give_up(errno);
  if (::connect(socket.get(), plan_.server.address(), plan_.server.length()) != 0 && errno != EINPROGRESS)
    return errno == EADDRNOTAVAIL || errno == EADDRINUSE ? Attempt::port_taken : give_up(errno);
  epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLET, .data = {.u32 = number}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket.get(), &event) != 0) return give_up(errno);
  client.exchange.emplace(std::move(socket), message(counts_.begun), now_ns);
  client.waiting_since_ns = 0;
  ++counts_.begun;
  ++under_way_;
  return Attempt::begun;
}

void EchoClients::advance(std::uint32_t number) noexcept {
  Client& client = clients_[number];
  if (!client.exchange) return;
  const EchoExchange& exchange = *client.exchange;
  switch (client.exchange->advance(scratch_)) {
    case EchoExchange::State::open:
      return;
    case EchoExchange::State::failed:
      if (exchange.error_number() != 0) counts_.last_error = exchange.error_number();
      return fail(client, exchange.failure(), steady_ns());
    case EchoExchange::State::finished:
      const std::uint64_t now_ns = exchange.finished_ns();
      ++counts_.finished;
      ++counts_.finished_by_client[number];
      counts_.connection_ns.add(now_ns - exchange.began_ns());
      counts_.echo_ns.add(now_ns - exchange.sending_ns());
      client.failures = 0;
      last_finish_ns_ = now_ns;
      end(client, now_ns);
      begin(number, steady_ns());
  }
}

void EchoClients::end(Client& client, std::uint64_t now_ns) noexcept {
  counts_.bytes_sent += client.exchange->sent();
  counts_.bytes_received += client.exchange->received();
  client.exchange.reset();
  --under_way_;
  last_ns_ = now_ns;
}

void EchoClients::fail(Client& client, EchoFailure failure, std::uint64_t now_ns) noexcept {
  ++counts_.failed_by[static_cast<std::size_t>(failure)];
  if (client.exchange) end(client, now_ns);
  client.waiting_since_ns = 0;
  client.rests_until_ns = now_ns + std::min(kShortestRestNs << std::min(client.failures, 20u), kLongestRestNs);
  ++client.failures;
}

void EchoClients::abandon() noexcept {
  may_begin_ = false;
  const std::uint64_t now_ns = steady_ns();
  for (Client& client : clients_) {
    if (!client.exchange) continue;
    ++counts_.abandoned;
    end(client, now_ns);
  }
}

}  // namespace parshall::tester
