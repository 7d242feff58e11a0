// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "generate/flow_tuples.hpp"
#include "generate/frame.hpp"

namespace parshall {

/// What a packet says, apart from whose it is: all but `payload_bytes` is of TCP.
struct Segment {
  std::uint32_t payload_bytes = 0;
  std::uint32_t sequence = 0, acknowledgment = 0;
  std::uint16_t window = 0;
  std::uint8_t flags = 0x10;  ///< ACK
};

/// Writes the frames of a spec's flows, their checksums being right, into memory that is all zero.
class FlowFrames {
 public:
  explicit FlowFrames(const TrafficSpec&) noexcept {}

  std::uint32_t link_bytes() const noexcept { return kEthernetBytes; }  ///< before the IP header

  /// Bytes before the payload.
  std::uint32_t header_bytes(const FlowTuple& tuple) const noexcept;

  /// What comes behind the payload is padding.
  void write(std::uint8_t* frame, const FlowTuple& tuple, const Segment& segment) const noexcept;
};

}  // namespace parshall
