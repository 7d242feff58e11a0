// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "base/result.hpp"
#include "pipeline/capture/kernel_interface.hpp"

namespace parshall::dpdk {

/// Waits up to a second for a queue that another AF_XDP socket has, and fails if it still has it then.
///
/// To be asked before net_af_xdp is: where that finds the queue taken, it takes the XDP program off the interface when
/// it gives up, and with it the packets from whoever has the queue (22.11).
///
/// Source: Linux af_xdp.rst: bind() fails with EBUSY. Another error is left to the driver to meet and to tell.
std::optional<Error> wait_for_xdp_queue(const KernelInterface& interface, std::uint16_t queue);

}  // namespace parshall::dpdk
