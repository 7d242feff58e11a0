// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <optional>

#include "traffic/frame_writer.hpp"
#include "traffic/traffic_spec.hpp"

namespace parshall {

/// Changes to a capture's packets when they are sent.
struct ReplayChanges {
  std::uint32_t most_bytes = 0;   ///< longest frame with frame check sequence; longer ones are cut; 0: no limit
  std::uint32_t least_bytes = 0;  ///< shorter frames are padded behind their datagram
  bool fresh_flows = false;       ///< give each loop other addresses
  bool fix_checksums = false;     ///< correct all datagrams: captures have wrong checksums if a NIC was to fill them in
  std::optional<MacAddress> source_mac, destination_mac;
};

/// Makes Ethernet frames from captured packets, each with its length on the wire. Bytes missing in the capture are
/// zeros.
///
/// IP packets of other link types get an Ethernet header. If a datagram is changed, its length fields are right, and
/// its checksums are as write_checksums() makes them. Unchanged packets are not inspected. The addresses of both ends
/// are XORed with the same number, so both directions of a connection stay together. Only the lower 24 bits change, so
/// unicast and multicast addresses stay such. Nothing inside tunnels is changed, nor are the addresses of a datagram
/// behind a Routing header.
class ReplayWriter final : public FrameWriter {
 public:
  /// `loop` returns the loop of the packets being written, if fresh flows are wanted.
  ReplayWriter(const ReplayChanges& changes, std::function<std::uint64_t()> loop)
      : changes_(changes), loop_(std::move(loop)) {}

  void lengths(std::span<const RawPacket> packets, std::span<OutFrame> frames) noexcept override;
  void write(std::span<const RawPacket> packets, std::span<const OutFrame> frames,
             std::span<const std::uint64_t> due_ns) noexcept override;
  bool changes() const noexcept override { return true; }

 private:
  void write(const RawPacket& packet, const OutFrame& frame, std::uint32_t mask) const noexcept;

  ReplayChanges changes_;
  std::function<std::uint64_t()> loop_;
};

}  // namespace parshall
