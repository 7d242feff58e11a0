// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "base/random.hpp"
#include "traffic/traffic_spec.hpp"

namespace parshall {

/// Endpoints of a flow, as in its packets' headers.
struct FlowTuple {
  bool ipv6 = false, tcp = false;
  std::uint8_t source[16] = {}, destination[16] = {};  ///< only 4 bytes are used for IPv4
  std::uint8_t source_port[2] = {}, destination_port[2] = {};

  std::uint32_t ip_header_bytes() const noexcept { return ipv6 ? 40 : 20; }
  std::uint32_t transport_header_bytes() const noexcept { return tcp ? 20 : 8; }
};

/// Five-tuples of a spec's flows by number; all are different.
class FlowTuples {
 public:
  explicit FlowTuples(const TrafficSpec& spec) noexcept
      : protocol_(spec.protocol),
        connected_(spec.connected()),
        addresses_(spec.addresses),
        ipv6_share_(spec.ipv6_share),
        seed_(spec.seed) {}

  FlowTuple operator()(std::uint64_t flow) const noexcept;

 private:
  FlowTuple one_way(std::uint64_t flow) const noexcept;
  void address_randomly(FlowTuple& tuple, std::uint64_t flow, SplitMix64 random) const noexcept;
  void address_for_benchmarks(FlowTuple& tuple, std::uint64_t flow, SplitMix64 random) const noexcept;

  ProtocolMix protocol_;
  bool connected_;
  AddressKind addresses_;
  double ipv6_share_;
  std::uint64_t seed_;
};

}  // namespace parshall
