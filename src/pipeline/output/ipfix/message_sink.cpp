// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/ipfix/message_sink.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include "base/file_handle.hpp"
#include "pipeline/output/ipfix/connection.hpp"
#include "pipeline/output/target_file.hpp"

namespace parshall {
namespace {

using Clock = std::chrono::steady_clock;

/// The first of the host's addresses that takes it.
Result<FileHandle> connect_to(const Transport& transport, int type) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = type;
  addrinfo* found = nullptr;
  const std::string name = fmt::format("{}:{}", transport.host, transport.port);
  if (const int status = ::getaddrinfo(transport.host.c_str(), transport.port.c_str(), &wanted, &found); status != 0)
    return Error{fmt::format("{}: {}", name, ::gai_strerror(status))};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, ::freeaddrinfo);
  int wrong = 0;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    FileHandle socket(::socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC, each->ai_protocol));
    if (!socket) {
      wrong = errno;
      continue;
    }
    constexpr timeval kPatience{.tv_sec = 5, .tv_usec = 0};  // also for connecting
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
    if (::connect(socket.get(), each->ai_addr, each->ai_addrlen) == 0) return socket;
    wrong = errno;
  }
  return Error{fmt::format("{}: {}", name, std::strerror(wrong == EINPROGRESS ? ETIMEDOUT : wrong))};
}

/// At most so many bits a second, but for bursts that any socket has room for.
class BitRate {
 public:
  explicit BitRate(double bps) noexcept : ns_per_byte_(bps > 0 ? 8e9 / bps : 0) {}

  void wait_for(std::size_t bytes) {
    if (ns_per_byte_ == 0) return;
    const auto now = Clock::now();
    const auto of = [this](double count) {
      return std::chrono::duration_cast<Clock::duration>(
          std::chrono::duration<double, std::nano>(count * ns_per_byte_));
    };
    free_ = std::max(free_, now - of(kBurstBytes)) + of(static_cast<double>(bytes));
    if (free_ > now) std::this_thread::sleep_until(free_);
  }

 private:
  static constexpr double kBurstBytes = 32 << 10;

  double ns_per_byte_;
  Clock::time_point free_{};  ///< when all that was let through has passed
};

class UdpSink final : public MessageSink {
 public:
  UdpSink(FileHandle socket, double rate_bps) : socket_(std::move(socket)), rate_(rate_bps) {}

  /// That nobody listens is told by the host, with the next message.
  Sent send(std::span<const std::uint8_t> message) override {
    rate_.wait_for(message.size());
    const auto is_sent = [&] {
      return ::send(socket_.get(), message.data(), message.size(), MSG_NOSIGNAL) ==
             static_cast<ssize_t>(message.size());
    };
    if (is_sent()) {
      is_refused_ = false;
      return Sent::yes;
    }
    is_refused_ = errno == ECONNREFUSED;
    if (!is_refused_) return Sent::no;
    return is_sent() ? Sent::not_the_one_before : Sent::no;
  }

  std::string trouble() const override { return is_refused_ ? "nobody listens there" : ""; }

  Flushed flush() override {
    int wrong = 0;
    socklen_t bytes = sizeof wrong;
    if (::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &wrong, &bytes) != 0 || wrong != ECONNREFUSED)
      return Flushed::all;
    is_refused_ = true;
    return Flushed::not_the_last;
  }

 private:
  FileHandle socket_;
  BitRate rate_;
  bool is_refused_ = false;  ///< the latest that went
};

class TcpConnection final : public Connection {
 public:
  explicit TcpConnection(FileHandle socket) : socket_(std::move(socket)) {}

  bool send(std::span<const std::uint8_t> bytes) noexcept override {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
    return true;
  }

 private:
  FileHandle socket_;
};

Result<std::unique_ptr<Connection>> open_connection(const Transport& transport) {
  auto socket = connect_to(transport, SOCK_STREAM);
  if (!socket) return socket.error();
  if (transport.kind == Transport::Kind::tls) return open_tls(*std::move(socket), transport);
  return std::unique_ptr<Connection>(std::make_unique<TcpConnection>(*std::move(socket)));
}

/// Connects again, now and then, where the connection breaks.
class StreamSink final : public MessageSink {
 public:
  StreamSink(std::unique_ptr<Connection> connection, Transport transport)
      : connection_(std::move(connection)), transport_(std::move(transport)) {}

  Sent send(std::span<const std::uint8_t> message) override {
    if (!connection_) return Sent::no;
    is_new_ = false;
    if (connection_->send(message)) return Sent::yes;
    trouble_ = fmt::format("the connection broke: {}", std::strerror(errno));
    connection_.reset();  // half a message may be there: nothing can follow it
    broken_ = Clock::now();
    return Sent::no;
  }

  std::string trouble() const override { return trouble_; }

  bool is_new() noexcept override {
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
    return is_new_;
  }

 private:
  std::unique_ptr<Connection> connection_;  ///< null: it broke
  Transport transport_;
  bool is_new_ = true;
  Clock::time_point broken_{};
  std::string trouble_;
};

class FileSink final : public MessageSink {
 public:
  explicit FileSink(std::unique_ptr<Output> output) : output_(std::move(output)) { output_->need_what_was_before(); }

  Sent send(std::span<const std::uint8_t> message) override {
    output_->write({reinterpret_cast<const char*>(message.data()), message.size()});
    return Sent::yes;
  }
  void begin_anew() override { output_->begin_anew(); }
  bool is_new() noexcept override { return output_->take_emptied(); }
  Flushed flush() override {
    output_->flush();
    return output_->take_lost() ? Flushed::none_since_flush : Flushed::all;
  }
  std::string trouble() const override { return output_->trouble(); }
  void finish() override { output_->finish(); }
  std::string file() const override { return output_->name(); }
  const std::optional<Error>& error() const noexcept override { return output_->error(); }
  bool reader_gone() const noexcept override { return output_->reader_gone(); }

 private:
  std::unique_ptr<Output> output_;
};

}  // namespace

const std::optional<Error>& MessageSink::error() const noexcept {
  static const std::optional<Error> none;
  return none;
}

Result<std::unique_ptr<MessageSink>> open_message_sink(const Transport& transport) {
  using Sink = std::unique_ptr<MessageSink>;
  if (transport.kind == Transport::Kind::file) {
    auto output = open_target(transport.path);
    if (!output) return output.error();
    return Sink(std::make_unique<FileSink>(*std::move(output)));
  }
  if (transport.kind == Transport::Kind::udp) {
    auto socket = connect_to(transport, SOCK_DGRAM);
    if (!socket) return socket.error();
    return Sink(std::make_unique<UdpSink>(*std::move(socket), transport.rate_bps));
  }
  auto connection = open_connection(transport);
  if (!connection) return connection.error();
  return Sink(std::make_unique<StreamSink>(*std::move(connection), transport));
}

}  // namespace parshall
