// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "generate/traffic.hpp"
#include "pipeline/capture/packet.hpp"

namespace parshall {

/// Traffic of short flows, each of them new: TCP segments made as they are played, so that no flow comes again when the
/// trace repeats. The worst case of Santiago del Rio et al., IMC 2012, is one flow at a time of five packets.
///
/// Shape: spec.flows flows at a time take turns, packet by packet, until each has had spec.train_packets; then come the
///        next. The n-th of 2^48 flows has the n-th source address from 10.0.0.0 on, and then the next source port.
///        Packets stay valid as those of a source do.
class FlowTrains {
 public:
  explicit FlowTrains(std::shared_ptr<const Trace> trace);

  /// Fills in all of the packets, where the trace is of trains; `number` were played before. At most kMostPackets
  /// between two calls of a source's poll().
  void put_into(std::span<RawPacket> packets, std::uint64_t number) noexcept;

 private:
  static constexpr std::size_t kMostPackets = 4096, kFrames = 4 * kMostPackets;

  struct alignas(64) Line {
    std::uint8_t bytes[64];
  };

  std::uint8_t* frame(std::size_t i) noexcept { return frames_[i * lines_].bytes; }

  std::shared_ptr<const Trace> trace_;
  std::size_t lines_ = 0;     ///< of a frame
  std::vector<Line> frames_;  ///< a ring; none where the trace is of something else
  std::size_t next_ = 0;
  std::uint32_t sum_ = 0;  ///< of the IPv4 header without its source address
};

}  // namespace parshall
