// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/transport/udp_sink.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/file_handle.hpp"
#include "pipeline/output/transport/connection.hpp"
#include "pipeline/output/transport/sent_records.hpp"

namespace parshall {
namespace {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;

/// Limits the bit rate, except for bursts that any socket has room for.
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
  Time free_{};  ///< time when everything admitted has passed
};

std::uint64_t ns_of(Time time) noexcept {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(time.time_since_epoch()).count());
}

/// Returns whether both are connected to the same address and port.
bool have_one_peer(const FileHandle& a, const FileHandle& b) noexcept {
  sockaddr_storage peers[2]{};
  socklen_t bytes[2] = {sizeof peers[0], sizeof peers[1]};
  return ::getpeername(a.get(), reinterpret_cast<sockaddr*>(&peers[0]), &bytes[0]) == 0 &&
         ::getpeername(b.get(), reinterpret_cast<sockaddr*>(&peers[1]), &bytes[1]) == 0 && bytes[0] == bytes[1] &&
         std::memcmp(&peers[0], &peers[1], bytes[0]) == 0;
}

/// Returns whether the system may report this error with a later message than the one that caused it.
bool may_be_of_an_earlier_one(int wrong) noexcept {
  return wrong != 0 && wrong != EAGAIN && wrong != ENOBUFS && wrong != ENOMEM;
}

class UdpSink final : public MessageSink {
 public:
  UdpSink(FileHandle socket, const Transport& transport)
      : socket_(std::move(socket)), transport_(transport), rate_(transport.rate_bps) {}

  bool send(std::span<const std::uint8_t> message, const OutputSummary::Sum& records) override {
    rate_.wait_for(message.size());
    int wrong = try_to_send(message);
    if (may_be_of_an_earlier_one(wrong)) {
      const int first = std::exchange(wrong, try_to_send(message));
      if (wrong == 0 || first == ECONNREFUSED) note_refusal(first, Clock::now());
    }
    const Time now = Clock::now();
    if (wrong != 0) {
      deliveries_.not_sent += records;
      note_trouble(wrong, now);
      return false;
    }
    recent_.add(ns_of(now), records);
    last_ = records;
    if (!trouble_.empty() && !good_since_) good_since_ = now;
    return true;
  }

  Session session() noexcept override {
    constexpr std::chrono::seconds kTellEach{1};
    constexpr std::chrono::seconds kLately{2};  // refusals come a second apart
    const Time now = Clock::now();
    settle(now);
    if (!trouble_.empty() && now >= try_at_ && (!good_since_ || now - wrong_at_ < kLately)) try_to_connect_again();
    if (!trouble_.empty() && now - told_at_ >= kTellEach) tells_ = Session::tells_again;
    if (tells_ != Session::goes_on) told_at_ = now;
    return std::exchange(tells_, Session::goes_on);
  }

  bool flush() override {
    int wrong = 0;
    socklen_t bytes = sizeof wrong;
    if (::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &wrong, &bytes) == 0 && wrong != 0)
      note_refusal(wrong, Clock::now());
    settle(Clock::now());
    return true;
  }

  /// Counts the rest as written, as nothing more will be known of it.
  void finish() override {
    const OutputSummary::Sum rest = recent_.take_all();
    if (is_refused_) deliveries_.unconfirmed += rest;
  }

  std::string trouble() const override { return trouble_; }

  Deliveries deliveries() const noexcept override {
    Deliveries all = deliveries_;
    all.waiting = recent_.sum();
    return all;
  }

 private:
  static constexpr std::chrono::seconds kRefusedWithin{1}, kCalm{5}, kFirstTry{1}, kLastTry{30};
  static constexpr std::uint64_t kGrainNs = 10'000'000;

  /// Sends a message. Returns errno, or 0.
  int try_to_send(std::span<const std::uint8_t> message) noexcept {
    for (;;) {
      const ssize_t sent = ::send(socket_.get(), message.data(), message.size(), MSG_NOSIGNAL);
      if (sent >= 0) return 0;
      if (errno != EINTR) return errno;
    }
  }

  /// Counts the latest message as not sent. At the first refusal, it is unknown whether earlier messages arrived. A
  /// later refusal shows that none did since the previous one.
  void note_refusal(int wrong, Time now) {
    const OutputSummary::Sum in_doubt = recent_.take_all();
    const bool has_last = last_.packets <= in_doubt.packets && last_.findings <= in_doubt.findings;
    const OutputSummary::Sum refused = std::exchange(is_refused_, true) || !has_last ? in_doubt : last_;
    deliveries_.not_sent += refused;
    deliveries_.unconfirmed += in_doubt - refused;
    last_ = {};
    note_trouble(wrong, now);
  }

  void note_trouble(int wrong, Time now) {
    if (trouble_.empty()) {
      try_after_ = kFirstTry;
      try_at_ = now + try_after_;
    }
    trouble_ = wrong == ECONNREFUSED ? "nobody listens there"
                                     : fmt::format("messages cannot be sent: {}", std::strerror(wrong));
    wrong_at_ = now;
    good_since_.reset();
  }

  /// Ends doubts and troubles that are old enough.
  void settle(Time now) {
    if (!is_refused_) recent_.forget_until(ns_of(now - kRefusedWithin));
    if (!good_since_ || now - *good_since_ < kCalm) return;
    if (std::exchange(is_refused_, false)) deliveries_.unconfirmed += recent_.take_all();
    trouble_.clear();
    good_since_.reset();
    tells_ = Session::tells_again;
  }

  void try_to_connect_again() noexcept {
    try {
      connect_again();
    } catch (const std::bad_alloc&) {
      try_at_ = Clock::now() + kLastTry;
    }
  }

  void connect_again() {
    auto socket = connect_to(transport_, SOCK_DGRAM);
    try_after_ = std::min<std::chrono::seconds>(2 * try_after_, kLastTry);
    try_at_ = Clock::now() + try_after_;
    if (!socket) {
      trouble_ = socket.error().message;
      return;
    }
    if (is_refused_ && have_one_peer(*socket, socket_)) return;  // it still gets errors for messages in flight
    socket_ = *std::move(socket);
    if (is_refused_) deliveries_.unconfirmed += recent_.take_all();
    last_ = {};
    good_since_.reset();
    tells_ = Session::tells_again;
  }

  FileHandle socket_;
  Transport transport_;
  BitRate rate_;
  Deliveries deliveries_;
  SentRecords recent_{kGrainNs};  ///< by time
  OutputSummary::Sum last_;       ///< records of the last message sent, unless one was refused since
  bool is_refused_ = false;
  std::string trouble_;
  std::optional<Time> good_since_;  ///< in trouble: time since when all messages were sent and none was refused
  std::chrono::seconds try_after_ = kFirstTry;
  Time wrong_at_{}, try_at_{}, told_at_{};
  Session tells_ = Session::begins;
};

}  // namespace

Result<std::unique_ptr<MessageSink>> open_udp_sink(const Transport& transport) {
  auto socket = connect_to(transport, SOCK_DGRAM);
  if (!socket) return socket.error();
  return std::unique_ptr<MessageSink>(std::make_unique<UdpSink>(*std::move(socket), transport));
}

}  // namespace parshall
