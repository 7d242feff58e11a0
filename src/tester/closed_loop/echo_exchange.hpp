// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "base/file_handle.hpp"

namespace parshall::tester {

/// Why a connection of a client came to nothing.
enum class EchoFailure : std::uint8_t {
  refused,       ///< nobody listens there
  reset,         ///< by the other end
  closed_early,  ///< by the other end, before the whole message was back
  wrong_echo,    ///< something else came back
  timed_out,
  unreachable,
  no_port,  ///< all source ports were in use, or rested in TIME_WAIT
  other,    ///< of the system: last_error says which
};
inline constexpr std::array<const char*, 8> kEchoFailures{"refused",   "reset",       "closed_early", "wrong_echo",
                                                          "timed_out", "unreachable", "no_port",      "other"};

EchoFailure failure_of(int error_number) noexcept;

/// One connection of a client: it sends a message and waits until all of it is back. Nothing that the other end does
/// makes it wait or run for ever: advance() never blocks, and reads no more than a byte beyond the message.
class EchoExchange {
 public:
  enum class State : std::uint8_t { open, finished, failed };

  /// Over a socket that does not block, and may not be connected yet.
  EchoExchange(FileHandle socket, std::span<const std::uint8_t> message, std::uint64_t began_ns) noexcept
      : socket_(std::move(socket)), message_(message), began_ns_(began_ns) {}

  /// Sends and reads what can be; to be called whenever the socket can be written or read anew.
  State advance(std::span<std::uint8_t> scratch) noexcept;

  EchoFailure failure() const noexcept { return failure_; }
  int error_number() const noexcept { return error_number_; }  ///< of the failure; 0: of none

  const FileHandle& socket() const noexcept { return socket_; }
  std::uint64_t began_ns() const noexcept { return began_ns_; }
  std::uint64_t sending_ns() const noexcept { return sending_ns_; }    ///< when the first byte went
  std::uint64_t finished_ns() const noexcept { return finished_ns_; }  ///< when the last one was back
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
