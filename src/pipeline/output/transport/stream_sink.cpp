// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/transport/stream_sink.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "base/file_handle.hpp"
#include "pipeline/output/transport/connection.hpp"
#include "pipeline/output/transport/sent_records.hpp"

namespace parshall {
namespace {

using Clock = std::chrono::steady_clock;

/// Most data that a host holds for a program that does not read: the default of Linux's net.ipv4.tcp_rmem.
constexpr std::uint64_t kHeldByHost = std::uint64_t{6} << 20;

class TcpConnection final : public Connection {
 public:
  explicit TcpConnection(FileHandle socket) : socket_(std::move(socket)) {}

  bool send(std::span<const std::uint8_t> bytes) noexcept override {
    while (!bytes.empty()) {
      const std::ptrdiff_t sent = socket_.write(bytes.data(), bytes.size());
      if (sent <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
    return true;
  }
  StreamSocket& socket() noexcept override { return socket_; }

 private:
  StreamSocket socket_;
};

Result<std::unique_ptr<Connection>> open_connection(const Transport& transport) {
  auto socket = connect_to(transport, SOCK_STREAM);
  if (!socket) return socket.error();
  if (transport.kind == Transport::Kind::tls) return open_tls(*std::move(socket), transport);
  return std::unique_ptr<Connection>(std::make_unique<TcpConnection>(*std::move(socket)));
}

class StreamSink final : public MessageSink {
 public:
  StreamSink(std::unique_ptr<Connection> connection, Transport transport)
      : connection_(std::move(connection)), transport_(std::move(transport)) {}

  bool send(std::span<const std::uint8_t> message, const OutputSummary::Sum& records) override {
    if (connection_ && connection_->send(message)) {
      is_new_ = false;
      unacknowledged_.add(connection_->socket().sent(), records);
      note_acknowledged();
      return true;
    }
    if (connection_) note_break();  // part of a message may have been sent, so nothing can follow it
    deliveries_.not_sent += records;
    return false;
  }

  std::string trouble() const override { return trouble_; }

  Session session() noexcept override {
    constexpr std::chrono::seconds kAgain{1};
    if (!connection_ && Clock::now() - broken_ >= kAgain) {
      if (auto connection = open_connection(transport_)) {
        connection_ = *std::move(connection);
        is_new_ = true;
        trouble_.clear();
      } else {
        trouble_ = connection.error().message;
      }
      broken_ = Clock::now();
    }
    return is_new_ ? Session::begins : Session::goes_on;
  }

  bool flush() override {
    if (!connection_) return true;
    if (connection_->socket().stands())
      note_acknowledged();
    else
      note_break();
    return true;
  }

  void finish() override {
    constexpr std::chrono::seconds kPatience{5};
    constexpr std::chrono::milliseconds kNap{1};
    const auto until = Clock::now() + kPatience;
    flush();
    while (connection_ && unacknowledged_.sum() != OutputSummary::Sum() && Clock::now() < until) {
      std::this_thread::sleep_for(kNap);
      flush();
    }
    deliveries_.unconfirmed += unacknowledged_.take_all();
  }

  Deliveries deliveries() const noexcept override {
    Deliveries all = deliveries_;
    all.waiting = unacknowledged_.sum();
    return all;
  }

 private:
  void note_acknowledged() {
    const StreamSocket& socket = connection_->socket();
    unacknowledged_.take_until(socket.acknowledged(), [this](std::uint64_t end, const OutputSummary::Sum& records) {
      maybe_unread_.add(end, records);
    });
    if (socket.sent() > kHeldByHost) maybe_unread_.forget_until(socket.sent() - kHeldByHost);
  }

  /// Counts as unconfirmed what is not acknowledged by now, as nothing more will be known. A host ends a connection by
  /// a reset if its program leaves data unread (RFC 2525, 2.17). Otherwise it sends a FIN, and answers later data by a
  /// reset.
  void note_break() {
    const int wrong = connection_->socket().wrong();
    const bool all_was_read = wrong == EPIPE;  // Linux reports this if a FIN came first
    deliveries_.unconfirmed += unacknowledged_.take_all();
    const OutputSummary::Sum maybe_unread = maybe_unread_.take_all();
    if (!all_was_read) deliveries_.unconfirmed += maybe_unread;
    trouble_ = fmt::format("the connection broke: {}", wrong == EAGAIN ? "it took nothing for 5 s"
                                                       : wrong == 0    ? "TLS has come to its end"
                                                                       : std::strerror(wrong));
    connection_.reset();
    broken_ = Clock::now();
  }

  static constexpr std::uint64_t kGrain = 64 << 10;

  std::unique_ptr<Connection> connection_;  ///< null if it broke
  Transport transport_;
  bool is_new_ = true;
  Clock::time_point broken_{};
  std::string trouble_;
  SentRecords unacknowledged_;        ///< by the position in the stream where they end
  SentRecords maybe_unread_{kGrain};  ///< acknowledged records within the last kHeldByHost bytes
  Deliveries deliveries_;
};

}  // namespace

Result<std::unique_ptr<MessageSink>> open_stream_sink(const Transport& transport) {
  auto connection = open_connection(transport);
  if (!connection) return connection.error();
  return std::unique_ptr<MessageSink>(std::make_unique<StreamSink>(*std::move(connection), transport));
}

}  // namespace parshall
