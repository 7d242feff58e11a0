// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "generate/tcp_frames.hpp"
#include "generate/traffic.hpp"
#include "pipeline/capture/packet.hpp"

namespace parshall {

/// Traffic of short flows, each of them new: TCP segments made as they are played, so that no flow comes again when the
/// trace repeats. The worst case of Santiago del Rio et al., IMC 2012, is one flow at a time of five packets.
///
/// Shape: spec.flows flows at a time take turns, packet by packet, until each has had spec.train_packets; then come the
///        next. The n-th of 2^48 flows has the n-th source address from 10.0.0.0 on, and then the next source port;
///        of addresses for benchmarks likewise, and then the next destination.
class FlowTrains {
 public:
  explicit FlowTrains(std::shared_ptr<const Trace> trace);

  /// Fills in all of the packets, where the trace is of trains; `number` were played before. At most
  /// TcpFrames::kMostPackets between two calls of a source's poll().
  void put_into(std::span<RawPacket> packets, std::uint64_t number) noexcept;

 private:
  template <class EndpointsOf>
  void put_into(std::span<RawPacket> packets, std::uint64_t number, EndpointsOf endpoints_of) noexcept;

  std::shared_ptr<const Trace> trace_;
  TcpFrames frames_;  ///< none where the trace is of something else
};

}  // namespace parshall
