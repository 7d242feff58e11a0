// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/device_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace parshall {
namespace {

/// Returns whether `text` is DOMAIN:BUS:DEVICE.FUNCTION in hexadecimal.
bool is_pci_address(std::string_view text) {
  static constexpr std::string_view kShape = "xxxx:xx:xx.x";
  return text.size() == kShape.size() && std::ranges::equal(text, kShape, [](char c, char shape) {
           return shape == 'x' ? std::isxdigit(static_cast<unsigned char>(c)) != 0 : c == shape;
         });
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

}  // namespace parshall
