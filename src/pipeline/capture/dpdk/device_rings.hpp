// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <rte_ring.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace parshall::dpdk {

/// The rings of a net_ring device, made before it is. Those that the driver makes hold 1,024 packets, however many
/// descriptors it is asked for.
///
/// Source: DPDK 22.11, drivers/net/ring/rte_eth_ring.c: a device whose "nodeaction" is ATTACH takes rings of its name.
class DeviceRings {
 public:
  /// Whether it is a net_ring device to which its user gave no rings.
  static bool are_wanted_by(const std::string& devargs);

  /// Of that many packets each. False where there is no memory, or there are rings of that name: rte_errno says which.
  bool make(const std::string& device, std::uint32_t packets, int numa_node);

  /// What makes the device take them.
  static std::string devargs_of(const std::string& device, int numa_node);

 private:
  struct Free {
    void operator()(rte_ring* ring) const noexcept { ::rte_ring_free(ring); }
  };
  std::vector<std::unique_ptr<rte_ring, Free>> rings_;
};

}  // namespace parshall::dpdk
