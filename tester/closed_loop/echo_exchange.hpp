// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "base/file_handle.hpp"

namespace parshall::tester {

/// Reason why a client's connection failed.
enum class EchoFailure : std::uint8_t {
  refused,       ///< no server listens there
  reset,         ///< by the other end
  closed_early,  ///< closed by the other end before the whole message was back
  wrong_echo,    ///< other data came back
  timed_out,
  unreachable,
  no_port,  ///< all source ports were in use, or in TIME_WAIT
  other,    ///< a system error; see last_error
};
inline constexpr std::array<const char*, 8> kEchoFailures{"refused",   "reset",       "closed_early", "wrong_echo",
                                                          "timed_out", "unreachable", "no_port",      "other"};

EchoFailure failure_of(int error_number) noexcept;

/// One connection of a client: sends a message and waits until all of it is back. The other end cannot block it or keep
/// it busy for ever: advance() never blocks, and reads at most one byte beyond the message.
class EchoExchange {
 public:
  enum class State : std::uint8_t { open, finished, failed };

  /// Takes a socket that does not block; it may still be connecting.
  EchoExchange(FileHandle socket, std::span<const std::uint8_t> message, std::uint64_t began_ns) noexcept
      : socket_(std::move(socket)), message_(message), began_ns_(began_ns) {}

  /// Sends and reads as much as possible; call it whenever the socket becomes readable or writable.
  State advance(std::span<std::uint8_t> scratch) noexcept;

  EchoFailure failure() const noexcept { return failure_; }
  int error_number() const noexcept { return error_number_; }  ///< errno of the failure; 0: none

  const FileHandle& socket() const noexcept { return socket_; }
  std::uint64_t began_ns() const noexcept { return began_ns_; }
  std::uint64_t sending_ns() const noexcept { return sending_ns_; }    ///< when the first byte was sent
  std::uint64_t finished_ns() const noexcept { return finished_ns_; }  ///< when the last byte was back
  std::size_t sent() const noexcept { return sent_; }
  std::size_t received() const noexcept { return received_; }

 private:
  State fail(EchoFailure failure, int error_number) noexcept;

  FileHandle socket_;
  std::span<const std::uint8_t> message_;
  std::uint64_t began_ns_, sending_ns_ = 0, finished_ns_ = 0;
  std::size_t sent_ = 0, received_ = 0;
  EchoFailure failure_ = EchoFailure::other;
  int error_number_ = 0;
};

}  // namespace parshall::tester
