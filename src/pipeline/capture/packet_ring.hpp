// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace parshall {

/// Layout of a packet socket's ring for frames of a given length.
///
/// Source: Linux packet_mmap.rst; tpacket_rcv() puts the frame 66 bytes into its slot (TPACKET_V2).
struct PacketRing {
  static constexpr std::uint32_t kFrameOffset = 66;
  static constexpr std::uint32_t kLinkOverhead = 14 + 2 * 4;  ///< Ethernet header and two VLAN tags

  static constexpr std::size_t kUsualBytes = std::size_t{64} << 20;  ///< enough for a pause of 0.3 s at 100 kpps

  std::uint32_t frame_bytes = 2048;  ///< a power of two, so that frames fill their block
  std::uint32_t block_bytes = 65536;
  std::uint32_t frames = 4096;

  /// Returns the layout. With `frames` 0, it has as many as fit in kUsualBytes.
  static PacketRing of(std::uint32_t longest_frame, std::uint32_t frames);
  std::uint32_t longest_frame() const { return frame_bytes - kFrameOffset; }
  /// Returns the arguments for net_af_packet.
  std::string devargs(int number, const std::string& interface, std::uint16_t queues) const;
};

}  // namespace parshall
