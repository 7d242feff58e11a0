// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace parshall {

/// Set of networks, such as 10.0.0.0/8.
class Networks {
 public:
  /// Parses networks or single addresses of IPv4 or IPv6.
  static Result<Networks> parse(std::span<const std::string> networks);

  bool empty() const noexcept { return networks_.empty(); }
  /// Returns whether an address of 4 or 16 bytes is in one of them.
  bool contain(std::span<const std::uint8_t> address) const noexcept;
  /// Returns whether the network of this address and length is in one of them; nullopt: only a part of it is.
  std::optional<bool> contain(std::span<const std::uint8_t> address, unsigned bits) const noexcept;

 private:
  struct Network {
    std::array<std::uint8_t, 16> address;
    std::size_t bytes;
    unsigned bits;

    bool contains(std::span<const std::uint8_t> other, unsigned other_bits) const noexcept;
  };
  std::vector<Network> networks_;
};

}  // namespace parshall
