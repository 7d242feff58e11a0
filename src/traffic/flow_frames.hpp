// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "traffic/flow_tuples.hpp"
#include "traffic/frame.hpp"

namespace parshall {

/// Contents of a packet apart from its flow. All fields but `payload_bytes` and `stream` are for TCP.
struct Segment {
  static constexpr std::uint32_t kMssOptionBytes = 4;

  std::uint32_t payload_bytes = 0;
  std::uint32_t mss_of_mtu = 0;  ///< MTU for an option with the maximum segment size; 0: no option
  std::uint32_t sequence = 0, acknowledgment = 0;
  std::uint16_t window = 0;
  std::uint8_t flags = 0x10;                           ///< ACK
  std::optional<std::uint32_t> stream = std::nullopt;  ///< set: the payload ends in such a Trailer, behind zeros
};

/// Writes the frames of a spec's flows, with correct checksums, into memory that is all zero.
class FlowFrames {
 public:
  explicit FlowFrames(const TrafficSpec& spec) noexcept;

  std::uint32_t link_bytes() const noexcept { return link_bytes_; }  ///< length of the headers before IP

  /// Returns the number of bytes before the payload.
  std::uint32_t header_bytes(const FlowTuple& tuple) const noexcept;

  /// Writes a frame. Bytes behind the payload are padding.
  void write(std::uint8_t* frame, const FlowTuple& tuple, const Segment& segment) const noexcept;

 private:
  static constexpr std::uint32_t kTagBytes = 4;

  std::array<std::uint8_t, kEthernetBytes + 2 * kTagBytes> link_{};  ///< without the type; zeros follow
  std::uint32_t link_bytes_;
};

}  // namespace parshall
