// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/dpdk/device_rings.hpp"

#include <fmt/format.h>

namespace parshall::dpdk {

bool DeviceRings::are_wanted_by(const std::string& devargs) {
  return devargs.starts_with("net_ring") && devargs.find(',') == devargs.npos;
}

bool DeviceRings::make(const std::string& device, std::uint32_t packets, int numa_node) {
  constexpr unsigned kRings = 16;  // RTE_PMD_RING_MAX_RX_RINGS: the driver needs all of them
  for (unsigned i = 0; i < kRings; ++i) {
    rings_.emplace_back(::rte_ring_create(fmt::format("ETH_RXTX{}_{}", i, device).c_str(), packets, numa_node,
                                          RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ));
    if (!rings_.back()) return false;
  }
  return true;
}

}  // namespace parshall::dpdk
