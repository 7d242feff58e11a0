// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "pipeline/capture/packet.hpp"
#include "traffic/tcp_frames.hpp"
#include "traffic/traffic.hpp"

namespace parshall {

/// Traffic of short flows that never return: TCP segments are made as they are played, so no flow occurs again when the
/// trace repeats. The worst case of Santiago del Rio et al., IMC 2012, is one flow at a time of five packets.
///
/// Shape: spec.flows flows take turns, packet by packet, until each has had spec.train_packets; then the next flows
///        follow. The n-th of 2^48 flows has the n-th source address from 10.0.0.0 on, then the next source port. With
///        addresses for benchmarks it is the same, and then the next destination.
class FlowTrains {
 public:
  explicit FlowTrains(std::shared_ptr<const Trace> trace);

  /// Fills in all of the packets if the trace is of trains; `number` packets were played before. At most
  /// TcpFrames::kMostPackets between two calls of a source's poll().
  void put_into(std::span<RawPacket> packets, std::uint64_t number) noexcept;

 private:
  template <class EndpointsOf>
  void put_into(std::span<RawPacket> packets, std::uint64_t number, EndpointsOf endpoints_of) noexcept;

  std::shared_ptr<const Trace> trace_;
  TcpFrames frames_;  ///< empty if the trace has no trains
};

}  // namespace parshall
