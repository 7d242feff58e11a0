// SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>

#include <array>
#include <vector>

#include "targets.hpp"
#include "tester/closed_loop/echo_exchange.hpp"
#include "tester/closed_loop/served_connection.hpp"

namespace parshall::fuzz {
namespace {

using tester::EchoExchange;
using tester::EchoFailure;
using tester::ServedConnection;

/// Two ends of a connection that do not block.
struct Ends {
  FileHandle ours, peers;

  Ends() {
    int ends[2];
    require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    ours = FileHandle(ends[0]);
    peers = FileHandle(ends[1]);
  }
};

void write_all(const FileHandle& to, Bytes bytes) {
  const bool sent = ::send(to.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  require(sent || errno == EPIPE);
}

std::vector<std::uint8_t> read_all(const FileHandle& from) {
  std::vector<std::uint8_t> bytes(4096);
  const ssize_t count = ::recv(from.get(), bytes.data(), bytes.size(), 0);
  bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return bytes;
}

/// A client's end: whatever the peer sends, and however cut up, only its message makes it finish.
void check_client(Input& in) {
  const Bytes message = in.take(1 + in.byte() % 64);
  if (message.empty()) return;
  std::array<std::uint8_t, 32> room;
  const auto scratch = std::span(room).first(1 + in.byte() % room.size());
  Ends ends;
  EchoExchange exchange(std::move(ends.ours), message, 1);
  auto state = exchange.advance(scratch);
  require(state == EchoExchange::State::open && exchange.sent() == message.size());
  require(std::ranges::equal(read_all(ends.peers), message));
  std::vector<std::uint8_t> came;
  while (!in.empty() && state == EchoExchange::State::open) {
    const Bytes piece = in.take(1 + in.byte() % 16);
    write_all(ends.peers, piece);
    came.insert(came.end(), piece.begin(), piece.end());
    state = exchange.advance(scratch);
    const std::size_t both = std::min(came.size(), message.size());
    const bool is_right =
        std::equal(message.begin(), message.begin() + static_cast<std::ptrdiff_t>(both), came.begin());
    require(exchange.received() <= message.size());
    if (!is_right || came.size() > message.size())
      require(state != EchoExchange::State::open &&
              (state == EchoExchange::State::finished ? is_right : exchange.failure() == EchoFailure::wrong_echo));
    else
      require((state == EchoExchange::State::finished) == (came.size() == message.size()));
  }
  if (state != EchoExchange::State::open) return;
  ends.peers = FileHandle();
  require(exchange.advance(scratch) == EchoExchange::State::failed && exchange.failure() == EchoFailure::closed_early);
}

/// A server's end: what comes goes back.
void check_server(Input& in) {
  std::array<std::uint8_t, 32> room;
  const auto scratch = std::span(room).first(1 + in.byte() % room.size());
  Ends ends;
  ServedConnection connection(std::move(ends.ours), 1);
  std::vector<std::uint8_t> sent, back;
  while (!in.empty()) {
    const Bytes piece = in.take(1 + in.byte());
    write_all(ends.peers, piece);
    sent.insert(sent.end(), piece.begin(), piece.end());
    while (connection.received() < sent.size())
      require(connection.advance(scratch, 2) == ServedConnection::State::reading);
    const auto came = read_all(ends.peers);
    back.insert(back.end(), came.begin(), came.end());
    require(connection.received() == sent.size() && connection.sent() == sent.size() && back == sent);
  }
  ends.peers = FileHandle();
  require(connection.advance(scratch, 3) == ServedConnection::State::closed);
}

}  // namespace

/// Input: which end; how long the message is and how much is read at a time; pieces that the peer sends, each behind
/// its length.
void fuzz_echo(Bytes input) {
  Input in(input);
  if ((in.byte() & 1) != 0)
    check_server(in);
  else
    check_client(in);
}

}  // namespace parshall::fuzz
