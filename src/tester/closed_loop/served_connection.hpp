// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/file_handle.hpp"

namespace parshall::tester {

/// One connection of a server that sends back whatever comes. What the other end does not take waits, and while it
/// does nothing more is read: a peer that only sends costs one buffer.
class ServedConnection {
 public:
  enum class State : std::uint8_t {
    reading,  ///< for more
    writing,  ///< until the peer takes what it sent
    closed,   ///< the peer sent all, and all of it is on its way back
    reset,    ///< by the peer
    failed,
  };

  ServedConnection(FileHandle socket, std::uint64_t now_ns) noexcept : socket_(std::move(socket)), active_ns_(now_ns) {}

  /// One read and one write at most; to be called while the socket can do what the last state waits for.
  State advance(std::span<std::uint8_t> scratch, std::uint64_t now_ns) noexcept;

  const FileHandle& socket() const noexcept { return socket_; }
  State state() const noexcept { return state_; }
  /// When something was read or written last.
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
