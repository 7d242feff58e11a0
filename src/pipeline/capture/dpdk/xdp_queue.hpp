// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "base/result.hpp"
#include "pipeline/capture/kernel_interface.hpp"

namespace parshall::dpdk {

/// Waits up to three seconds for a queue that another AF_XDP socket holds. Fails if it is still held then.
///
/// Call it before net_af_xdp starts. If that driver finds the queue taken, it removes the interface's XDP program as it
/// gives up, so the other socket gets no more packets (22.11).
///
/// Source: Linux af_xdp.rst: bind() fails with EBUSY. Other errors are left to the driver, which reports them.
std::optional<Error> wait_for_xdp_queue(const KernelInterface& interface, std::uint16_t queue);

}  // namespace parshall::dpdk
