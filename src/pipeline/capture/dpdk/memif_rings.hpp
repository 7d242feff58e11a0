// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <utility>

#include "base/file_handle.hpp"

namespace parshall::dpdk {

/// The rings that a net_memif device shares with its peer, read beside its driver, which tells nobody what the peer has
/// yet to take, and with which they go.
///
/// Source: memif 2.0 as in DPDK 22.11, drivers/net/memif/memif.h: a sealed file begins with the rings, those to the
///         server first, all of one size. Who fills a slot for the server moves the head, and it the tail; who fills
///         one for the client moves the tail, and the client moves the head on as far as the slots are free again.
class MemifRings {
 public:
  /// Those of this process's device where it has one that is connected, and no other.
  static std::optional<MemifRings> find() noexcept;

  /// Frames on the ring of a transmit queue that the peer has not taken. Of a server's only after its first frame.
  std::uint32_t waiting(std::uint16_t queue, bool is_server) const noexcept;

 private:
  MemifRings(FileHandle file, std::uint32_t slots, std::uint32_t rings) noexcept
      : file_(std::move(file)), slots_(slots), rings_(rings) {}

  FileHandle file_;
  std::uint32_t slots_;
  std::uint32_t rings_;
};

}  // namespace parshall::dpdk
