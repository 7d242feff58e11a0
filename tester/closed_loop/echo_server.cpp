// SPDX-License-Identifier: Apache-2.0
#include "tester/closed_loop/echo_server.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tester/closed_loop/open_files.hpp"
#include "tester/closed_loop/steady_time.hpp"

namespace parshall::tester {
namespace {

constexpr int kWaitMs = 10, kEvents = 256, kAcceptedAtOnce = 256;
constexpr std::uint64_t kLookNs = 50'000'000;  ///< between two checks of all connections
constexpr std::uint32_t kOtherFiles = 64;
constexpr std::size_t kReadBytes = 1 << 16;

}  // namespace

Result<EchoServer> EchoServer::open(const EchoServerPlan& plan) {
  allow_open_files(plan.connections + kOtherFiles);
  const auto failed = [&](const char* advice) {
    return Error{fmt::format("cannot listen on {}: {}{}", plan.listen.text(), std::strerror(errno), advice)};
  };
  FileHandle epoll(::epoll_create1(EPOLL_CLOEXEC));
  FileHandle listener(::socket(plan.listen.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!epoll || !listener) return failed("");
  const int on = 1;  // do not wait for an earlier server's connections in TIME_WAIT
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(listener.get(), plan.listen.address(), plan.listen.length()) != 0)
    return failed(errno == EADDRINUSE ? ": name another port" : errno == EACCES ? ": ports below 1024 need root" : "");
  if (::listen(listener.get(), SOMAXCONN) != 0) return failed("");
  const auto endpoint = Endpoint::of_socket(listener.get());
  if (!endpoint) return endpoint.error();
  epoll_event event{.events = EPOLLIN, .data = {.fd = listener.get()}};
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, listener.get(), &event) != 0) return failed("");
  return EchoServer(plan, std::move(epoll), std::move(listener), *endpoint);
}

EchoServer::EchoServer(const EchoServerPlan& plan, FileHandle epoll, FileHandle listener, const Endpoint& endpoint)
    : plan_(plan),
      epoll_(std::move(epoll)),
      listener_(std::move(listener)),
      endpoint_(endpoint),
      scratch_(kReadBytes),
      connections_(kOtherFiles) {}

bool EchoServer::step() noexcept {
  epoll_event events[kEvents];
  const int count = ::epoll_wait(epoll_.get(), events, kEvents, kWaitMs);
  const std::uint64_t now_ns = steady_ns();
  for (int i = 0; i < count; ++i) {
    if (events[i].data.fd == listener_.get())
      accept_some(now_ns);
    else
      advance(events[i].data.fd, now_ns);
  }
  if (now_ns - looked_ns_ >= kLookNs) look_around(now_ns);
  return count > 0;
}

void EchoServer::accept_some(std::uint64_t now_ns) noexcept {
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    FileHandle socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      if (errno == EAGAIN) return;
      if (errno == ECONNABORTED || errno == EINTR) continue;
      ++counts_.held_back;
      return set_accepting(Accepting::not_now);  // otherwise waiting connections would wake it again at once
    }
    const int fd = socket.get();
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
      ++counts_.held_back;
      continue;
    }
    const auto place = static_cast<std::size_t>(fd);
    if (place >= connections_.size()) connections_.resize(2 * place);
    connections_[place].emplace(std::move(socket), now_ns);
    ++counts_.accepted;
    counts_.most_open = std::max(counts_.most_open, ++counts_.open);
    if (counts_.open >= plan_.connections) return set_accepting(Accepting::not_now);
  }
}

void EchoServer::set_accepting(Accepting accepting) noexcept {
  if (accepting == accepting_) return;
  accepting_ = accepting;
  epoll_event event{.events = accepting == Accepting::yes ? EPOLLIN : 0u, .data = {.fd = listener_.get()}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, listener_.get(), &event);
}

void EchoServer::advance(int fd, std::uint64_t now_ns) noexcept {
  auto& connection = connections_[static_cast<std::size_t>(fd)];
  if (!connection) return;
  using State = ServedConnection::State;
  const State before = connection->state();
  const std::uint64_t received = connection->received(), sent = connection->sent();
  const State state = connection->advance(scratch_, now_ns);
  counts_.bytes_received += connection->received() - received;
  counts_.bytes_sent += connection->sent() - sent;
  switch (state) {
    case State::closed:
      return end(fd, counts_.closed);
    case State::reset:
      return end(fd, counts_.reset);
    case State::failed:
      return end(fd, counts_.failed);
    case State::reading:
    case State::writing: {
      if (state == before) return;
      epoll_event event{.events = state == State::reading ? EPOLLIN : EPOLLOUT, .data = {.fd = fd}};
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
    }
  }
}

void EchoServer::end(int fd, std::uint64_t& counter) noexcept {
  connections_[static_cast<std::size_t>(fd)].reset();
  ++counter;
  --counts_.open;
}

void EchoServer::look_around(std::uint64_t now_ns) noexcept {
  looked_ns_ = now_ns;
  for (std::size_t place = 0; place < connections_.size(); ++place)
    if (connections_[place] && now_ns - connections_[place]->active_ns() >= plan_.timeout_ns)
      end(static_cast<int>(place), counts_.timed_out);
  if (counts_.open < plan_.connections) set_accepting(Accepting::yes);
}

}  // namespace parshall::tester
