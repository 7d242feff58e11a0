// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <rte_ring.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace parshall::dpdk {

/// Rings of a net_ring device, made before the device. The driver's own rings hold 1,024 packets, however many
/// descriptors it is asked for.
///
/// Source: DPDK 22.11 and 24.11, drivers/net/ring/rte_eth_ring.c: a device without arguments takes the rings of its
///         name, if there are any. With "nodeaction=...:ATTACH", DPDK 24.11 does not find them.
class DeviceRings {
 public:
  /// Returns whether it is a net_ring device for which the user gave no rings.
  static bool are_wanted_by(const std::string& devargs);

  /// Makes rings of `packets` packets each. Returns false, with the reason in rte_errno, if there is no memory or rings
  /// of that name exist.
  bool make(const std::string& device, std::uint32_t packets, int numa_node);

 private:
  struct Free {
    void operator()(rte_ring* ring) const noexcept { ::rte_ring_free(ring); }
  };
  std::vector<std::unique_ptr<rte_ring, Free>> rings_;
};

}  // namespace parshall::dpdk
