// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/file_handle.hpp"

namespace parshall::tester {

/// One connection of an echo server. While data waits that the other end does not take, nothing more is read: a peer
/// that only sends costs one buffer.
class ServedConnection {
 public:
  enum class State : std::uint8_t {
    reading,  ///< waits for input
    writing,  ///< waits until the peer takes data
    closed,   ///< the peer has closed, and everything is sent back
    reset,    ///< by the peer
    failed,
  };

  ServedConnection(FileHandle socket, std::uint64_t now_ns) noexcept : socket_(std::move(socket)), active_ns_(now_ns) {}

  /// Does at most one read and one write; call it when the socket can do what the last state waits for.
  State advance(std::span<std::uint8_t> scratch, std::uint64_t now_ns) noexcept;

  const FileHandle& socket() const noexcept { return socket_; }
  State state() const noexcept { return state_; }
  /// Returns the time of the last read or write.
  std::uint64_t active_ns() const noexcept { return active_ns_; }
  std::uint64_t received() const noexcept { return received_; }
  std::uint64_t sent() const noexcept { return sent_; }

 private:
  State step(std::span<std::uint8_t> scratch, std::uint64_t now_ns) noexcept;
  State write(std::span<const std::uint8_t> bytes, std::uint64_t now_ns) noexcept;

  FileHandle socket_;
  std::vector<std::uint8_t> waiting_;
  State state_ = State::reading;
  std::uint64_t active_ns_;
  std::uint64_t received_ = 0, sent_ = 0;
};

}  // namespace parshall::tester
