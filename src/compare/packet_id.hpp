// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "base/keyed_hash.hpp"
#include "pipeline/capture/packet.hpp"
#include "pipeline/decode/facts.hpp"

namespace parshall {

/// Says what may happen to the addresses of packets between two points.
enum class OnTheWay : std::uint8_t {
  forwarded,   ///< routers, switches, tunnels: addresses and ports stay
  translated,  ///< NAT: they may change
};

/// A packet as every point of its way sees it, by its innermost IP header.
struct SeenPacket {
  FlowKey key;
  std::uint64_t id = 0;  ///< hash of what does not change on the way
  std::uint64_t time_ns = 0;
  std::uint64_t order = 0;  ///< number of the packet at its tap
  std::uint8_t ttl = 0;
  bool has_id = false;  ///< false for fragments other than the first
  bool is_cut = false;  ///< fewer bytes were captured than the id covers, so another snapshot length gives another id
};

/// Names packets by what does not change between two points: the IPv4 identification, the transport header without
/// checksum and options, and the first 32 bytes of payload; the flow's key too, unless it is translated. Fields that
/// routers, offloading NICs and shapers change are left out: TTL, DSCP, ECN, lengths, checksums, TCP options, link
/// headers, tunnels.
///
/// Error: packets of a flow are alike if the sender repeats all of this. In public captures, 3 % of the packets have a
///        twin, such as DNS queries that are sent again. Others have the same id with a probability of 2^-64.
class PacketIds {
 public:
  PacketIds(std::uint64_t seed, OnTheWay on_the_way) noexcept : hash_(seed), on_the_way_(on_the_way) {}

  /// Sets `seen` if it returns Verdict::counted.
  Verdict read(const RawPacket& packet, SeenPacket& seen) const noexcept;

 private:
  KeyedHash hash_;
  OnTheWay on_the_way_;
};

}  // namespace parshall
