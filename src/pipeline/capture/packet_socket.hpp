// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "pipeline/capture/interface_packets.hpp"
#include "pipeline/capture/source.hpp"

namespace parshall {

struct PacketSocketOptions {
  std::string interface;          ///< one, several ("eth0,eth1") or all ("any"): InterfaceSet
  std::uint16_t queues = 1;       ///< sockets, among which the kernel spreads connections
  std::uint32_t descriptors = 0;  ///< packets in the ring of each; 0: as many as PacketRing::kUsualBytes hold
};

/// Kernel interfaces, read through AF_PACKET sockets whose rings are shared with the kernel.
///
/// The kernel copies as much of a frame as a slot of the ring holds, some 2 kB: headers are there of the longest frame,
/// and its length is the kernel's. Several queues split traffic by a hash that both directions of a connection share.
///
/// Cost:   no copy, no system call per packet; a slot goes back to the kernel two polls later.
/// Full:   the kernel drops, and counts what it drops from the moment the socket listens.
/// Source: Linux packet_mmap.rst (TPACKET_V2), packet(7).
class PacketSocket {
 public:
  /// What takes rights is done when it returns, and its memory is there. No packet comes yet.
  static Result<std::unique_ptr<PacketSocket>> open(const PacketSocketOptions& options);

  virtual ~PacketSocket() = default;

  /// Packets come, and are counted, from now on. Takes no rights.
  virtual std::optional<Error> listen() = 0;

  /// One source per queue, each for one thread; the second call returns none. They may outlive this.
  virtual std::vector<std::unique_ptr<PacketSource>> take_queues() = 0;

  /// Totals of all queues since they listen. Cold; any thread.
  virtual Counters counters() = 0;

  /// Returns the packets that were read of each interface, where there are several; of "any", those that had one. Any
  /// thread.
  virtual std::vector<InterfacePackets> interface_packets() const = 0;

  /// Returns the names of the interfaces by RawPacket::interface.
  virtual std::vector<std::string> interface_names() const = 0;

  /// Packets in the ring of each queue.
  virtual std::uint32_t descriptors() const = 0;

  /// That its packets may be of.
  virtual std::vector<LinkType> link_types() const = 0;

  /// Mapped by the rings.
  virtual std::uint64_t memory_bytes() const = 0;

  /// What it is, and every limit that affects the counts. For people.
  virtual std::string description() const = 0;
};

}  // namespace parshall
