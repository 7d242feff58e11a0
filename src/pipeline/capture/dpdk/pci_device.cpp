// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/dpdk/pci_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace parshall::dpdk {
namespace {

namespace fs = std::filesystem;
const fs::path kPciDevices = "/sys/bus/pci/devices";

/// Kernel drivers beside which the device's DPDK driver works.
constexpr std::array<std::string_view, 3> kSharedDrivers{"mlx5_core", "mlx4_core", "mana"};
constexpr std::array<std::string_view, 3> kDpdkDrivers{"vfio-pci", "igb_uio", "uio_pci_generic"};

std::string network_devices() {
  std::string found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(kPciDevices, error)) {
    std::string device_class;
    std::ifstream(entry.path() / "class") >> device_class;
    if (device_class.starts_with("0x02"))
      found += fmt::format("{}{}", found.empty() ? "" : ", ", entry.path().filename().string());
  }
  return found.empty() ? "none" : found;
}

}  // namespace

Result<DeviceName> ready_pci_device(DeviceName device) {
  const fs::path path = kPciDevices / device.name;
  std::error_code error;
  if (!fs::exists(path, error)) {
    return Error{fmt::format("cannot open {}: no such PCI device (network devices: {}; see dpdk-devbind.py --status)",
                             device.name, network_devices())};
  }
  const std::string driver = fs::read_symlink(path / "driver", error).filename().string();
  if (std::ranges::count(kDpdkDrivers, driver) || std::ranges::count(kSharedDrivers, driver)) return device;
  std::string interfaces;
  for (const auto& entry : fs::recursive_directory_iterator(path, error)) {  // virtio has its net/ one level down
    if (entry.path().parent_path().filename() == "net")
      interfaces += fmt::format(" {}", entry.path().filename().string());
  }
  std::string advice = fmt::format("modprobe vfio-pci && dpdk-devbind.py -b vfio-pci {}", device.name);
  if (!interfaces.empty())
    advice += fmt::format(" (takes it from the kernel; to leave it there, open{} instead)", interfaces);
  return Error{fmt::format("cannot open {}: bound to {}, DPDK needs vfio-pci; bind it with: {}", device.name,
                           driver.empty() ? "no driver" : driver, advice)};
}

}  // namespace parshall::dpdk
