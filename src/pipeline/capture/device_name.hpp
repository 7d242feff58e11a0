// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/result.hpp"

namespace parshall {

enum class DeviceKind { kernel_interface, pci, vdev };

/// Device as the user names it.
struct DeviceName {
  DeviceKind kind = DeviceKind::kernel_interface;
  std::string name;  ///< interface, PCI address with its domain, or the vdev's name
  std::string args;  ///< for a vdev: the text behind the first comma

  static Result<DeviceName> parse(const std::string& device);

  /// Returns whether an empty poll means the end: true for a file, or for a device that only sends.
  bool ends() const;
};

}  // namespace parshall
