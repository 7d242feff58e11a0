// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <optional>

#include "generate/frame_writer.hpp"
#include "generate/traffic_spec.hpp"

namespace parshall {

/// What becomes of a capture's packets on their way out.
struct ReplayChanges {
  std::uint32_t most_bytes = 0;   ///< of a frame, with frame check sequence: longer ones are cut; 0: none is
  std::uint32_t least_bytes = 0;  ///< shorter ones are padded behind their datagram
  bool fresh_flows = false;       ///< each loop's addresses are others
  bool fix_checksums = false;     ///< of all datagrams: captures have wrong ones where a NIC was to make them
  std::optional<MacAddress> source_mac, destination_mac;
};

/// Ethernet frames of captured packets, each in the length it had on the wire: what the capture lacks is zeros.
///
/// Packets of other link types go behind an Ethernet header, if they are of IP. Where a datagram was changed, its
/// length fields are right, and its checksums as write_checksums() makes them; of packets that go as they came nothing
/// is looked at. The addresses of both ends are exclusive-or'ed with one number, so that both directions of a
/// connection stay those of one: in the lower 24 bits, so that a unicast or multicast address stays one. Inside of
/// tunnels nothing is changed, nor are the addresses of a datagram behind a Routing header.
class ReplayWriter final : public FrameWriter {
 public:
  /// `loop`: of the packets that are written, if fresh flows are wanted.
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
