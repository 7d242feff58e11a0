// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/result.hpp"

namespace parshall {

enum class DeviceKind { kernel_interface, pci, vdev };

/// What the user calls a device.
struct DeviceName {
  DeviceKind kind = DeviceKind::kernel_interface;
  std::string name;  ///< interface, PCI address with its domain, or the vdev's name
  std::string args;  ///< of a vdev: what follows the first comma

  static Result<DeviceName> parse(const std::string& device);

  /// A file, or a device that only sends: nothing waiting means nothing will come.
  bool ends() const;
};

}  // namespace parshall
