// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/dpdk/device_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace parshall::dpdk {
namespace {

namespace fs = std::filesystem;
const fs::path kPciDevices = "/sys/bus/pci/devices";

/// Bound to the kernel, but their DPDK drivers work beside it.
constexpr std::array<std::string_view, 3> kSharedDrivers{"mlx5_core", "mlx4_core", "mana"};
constexpr std::array<std::string_view, 3> kDpdkDrivers{"vfio-pci", "igb_uio", "uio_pci_generic"};

/// Domain:bus:device.function in hexadecimal.
bool is_pci_address(std::string_view text) {
  static constexpr std::string_view kShape = "xxxx:xx:xx.x";
  return text.size() == kShape.size() && std::ranges::equal(text, kShape, [](char c, char shape) {
           return shape == 'x' ? std::isxdigit(static_cast<unsigned char>(c)) != 0 : c == shape;
         });
}

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

Result<DeviceName> DeviceName::parse(const std::string& device) {
  static constexpr std::string_view kVdev = "vdev:";
  if (device.starts_with(kVdev)) {
    const std::string rest = device.substr(kVdev.size());
    const auto comma = std::min(rest.find(','), rest.size());
    if (comma == 0)
      return Error{fmt::format("cannot open {}: a device name must follow, as in vdev:net_null0", device)};
    return DeviceName{DeviceKind::vdev, rest.substr(0, comma), rest.substr(std::min(comma + 1, rest.size()))};
  }
  if (is_pci_address(device)) return DeviceName{DeviceKind::pci, device, {}};
  if (const std::string whole = fmt::format("0000:{}", device); is_pci_address(whole)) {
    return DeviceName{DeviceKind::pci, whole, {}};
  }
  if (device.empty()) return Error{"no device named: an interface, a PCI address or vdev:NAME"};
  return DeviceName{DeviceKind::kernel_interface, device, {}};
}

bool DeviceName::ends() const {
  if (kind != DeviceKind::vdev || name.find("_pcap") == std::string::npos) return false;
  const auto has = [this](std::string_view argument) {
    return args.starts_with(argument) || args.find(fmt::format(",{}", argument)) != std::string::npos;
  };
  const bool receives = has("rx_iface") || has("iface=");
  return !receives && !has("infinite_rx=1");
}

PacketRing PacketRing::of(std::uint32_t longest_frame, std::uint32_t frames) {
  PacketRing ring;
  ring.frame_bytes = std::bit_ceil(std::clamp(longest_frame + kFrameOffset, 256u, 32768u));
  ring.block_bytes = std::max(ring.block_bytes, ring.frame_bytes);
  const std::uint32_t per_block = ring.block_bytes / ring.frame_bytes;
  ring.frames = (std::max(frames, 1u) + per_block - 1) / per_block * per_block;
  return ring;
}

std::string PacketRing::devargs(int number, const std::string& interface, std::uint16_t queues) const {
  return fmt::format("net_af_packet{},iface={},qpairs={},blocksz={},framesz={},framecnt={}", number, interface, queues,
                     block_bytes, frame_bytes, frames);
}

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
