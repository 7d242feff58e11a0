// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/result.hpp"
#include "pipeline/capture/device_name.hpp"

namespace parshall::dpdk {

/// Checks that the PCI device exists and is ready for DPDK. An error says what to do.
Result<DeviceName> ready_pci_device(DeviceName device);

}  // namespace parshall::dpdk
