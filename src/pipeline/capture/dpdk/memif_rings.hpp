// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <utility>

#include "base/file_handle.hpp"

namespace parshall::dpdk {

/// View of the rings that a net_memif device shares with its peer. The driver does not report which frames the peer has
/// yet to take, and those frames are lost when the device closes.
///
/// Source: memif 2.0 as in DPDK 22.11, drivers/net/memif/memif.h. A sealed file begins with the rings, all of one size;
///         those to the server come first. On a ring to the server, the client moves the head as it fills slots, and
///         the server moves the tail. On a ring to the client, the server moves the tail as it fills slots, and the
///         client moves the head as far as slots are free again.
class MemifRings {
 public:
  /// Finds the rings of this process's device, if exactly one such device is connected.
  static std::optional<MemifRings> find() noexcept;

  /// Returns how many frames on a transmit queue's ring the peer has not taken. For a server, valid only after its
  /// first frame.
  std::uint32_t waiting(std::uint16_t queue, bool is_server) const noexcept;

 private:
  MemifRings(FileHandle file, std::uint32_t slots, std::uint32_t rings) noexcept
      : file_(std::move(file)), slots_(slots), rings_(rings) {}

  FileHandle file_;
  std::uint32_t slots_;
  std::uint32_t rings_;
};

}  // namespace parshall::dpdk
