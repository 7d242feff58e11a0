// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/result.hpp"
#include "pipeline/capture/device_name.hpp"

namespace parshall::dpdk {

/// Fails, saying what to do, when the PCI device is not there or not ready for DPDK.
Result<DeviceName> ready_pci_device(DeviceName device);

}  // namespace parshall::dpdk
