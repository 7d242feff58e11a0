// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "pipeline/capture/packet.hpp"
#include "traffic/tcp_frames.hpp"
#include "traffic/traffic.hpp"

namespace parshall {

/// Flood in a trace: TCP SYNs of 60 bytes (62 with two VLAN tags). They are made as they are played, so that none
/// repeats when the trace does.
///
/// Shape: the n-th packet played has the n-th of 2^64 sources and ports, in an order that the seed shuffles. So any two
///        SYNs are of two flows (for the first 2^47 with addresses for benchmarks). They stay valid as long as a
///        source's packets.
class SynFlood {
 public:
  static constexpr std::uint32_t kBytes = 60;

  explicit SynFlood(std::shared_ptr<const Trace> trace);

  /// Replaces those packets that belong to the flood by SYNs; `number` packets were played before. At most
  /// TcpFrames::kMostPackets between two calls of a source's poll().
  void put_into(std::span<RawPacket> packets, std::uint64_t number) noexcept;
  /// Does the same for packets that have these numbers.
  void put_into(std::span<RawPacket> packets, std::span<const std::uint64_t> numbers) noexcept;

 private:
  void put_into(RawPacket& packet, std::uint64_t number) noexcept;
  TcpFrames::Endpoints endpoints(std::uint64_t number) const noexcept;

  std::shared_ptr<const Trace> trace_;
  std::uint64_t seed_;
  TcpFrames frames_;  ///< empty without a flood
};

}  // namespace parshall
