// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <absl/container/flat_hash_map.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace parshall {

/// Names of addresses and networks, from a file in the format of hosts(5): an address or a network, and its name, in
/// each line. Further names and what follows # are left out. Of several lines for an address, the first one counts.
class HostNames {
 public:
  /// `file` is the file's name in errors.
  static Result<HostNames> parse(std::string_view text, std::string_view file);

  /// Returns the name of an address of 4 or 16 bytes, else that of the smallest network it is in; empty if there is
  /// none. It is valid as long as this object.
  std::string_view find(std::span<const std::uint8_t> address) const noexcept;

 private:
  using Address = std::array<std::uint8_t, 16>;  ///< IPv4 mapped into IPv6
  struct Network {
    Address address;
    unsigned bits;  ///< of the mapped address
    std::string name;
  };

  absl::flat_hash_map<Address, std::string> names_;
  std::vector<Network> networks_;  ///< the smallest first
};

}  // namespace parshall
