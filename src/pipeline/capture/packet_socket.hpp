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
  std::string interface;          ///< one, several ("eth0,eth1") or all ("any"); see InterfaceSet
  std::uint16_t queues = 1;       ///< sockets that the kernel spreads connections over
  std::uint32_t descriptors = 0;  ///< packets in each ring; 0: as many as fit in PacketRing::kUsualBytes
};

/// Captures from kernel interfaces through AF_PACKET sockets, whose rings are shared with the kernel.
///
/// The kernel copies as much of a frame as fits into a slot of the ring, some 2 kB. This includes the headers of even
/// the longest frame; the frame's length comes from the kernel. Several queues split traffic by a hash that is the same
/// for both directions of a connection.
///
/// Cost:   no copy, no system call per packet; a slot is returned to the kernel two polls later.
/// Full:   the kernel drops packets, and counts the drops from the moment the socket listens.
/// Source: Linux packet_mmap.rst (TPACKET_V2), packet(7).
class PacketSocket {
 public:
  /// Does all that needs privileges, and allocates the memory. No packets arrive yet.
  static Result<std::unique_ptr<PacketSocket>> open(const PacketSocketOptions& options);

  virtual ~PacketSocket() = default;

  /// Starts receiving and counting packets. Needs no privileges.
  virtual std::optional<Error> listen() = 0;

  /// Returns one source per queue, each for one thread. A second call returns none. They may outlive this object.
  virtual std::vector<std::unique_ptr<PacketSource>> take_queues() = 0;

  /// Returns the totals of all queues since listen(). Slow; any thread.
  virtual Counters counters() = 0;

  /// Returns the packets read from each interface, if there are several; for "any", only interfaces with packets. Any
  /// thread.
  virtual std::vector<InterfacePackets> interface_packets() const = 0;

  /// Returns the names of the interfaces, indexed by RawPacket::interface.
  virtual std::vector<std::string> interface_names() const = 0;

  /// Returns the number of packets in the ring of each queue.
  virtual std::uint32_t descriptors() const = 0;

  /// Returns the link types that its packets may have.
  virtual std::vector<LinkType> link_types() const = 0;

  /// Returns the bytes that the rings map.
  virtual std::uint64_t memory_bytes() const = 0;

  /// Returns a text for people, with every limit that affects the counts.
  virtual std::string description() const = 0;
};

}  // namespace parshall
