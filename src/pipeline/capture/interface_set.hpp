// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "pipeline/capture/kernel_interface.hpp"
#include "pipeline/capture/packet.hpp"

namespace parshall {

/// Kernel interfaces that one packet socket captures from: one, several, or all present and future ones.
class InterfaceSet {
 public:
  static constexpr std::string_view kAny = "any";      ///< means all interfaces, as in tcpdump
  static constexpr std::string_view kOther = "other";  ///< name of interfaces that appeared after the start

  /// Parses "eth0", "eth0,eth1" or "any". An interface that really has such a name takes precedence. Fails, saying what
  /// to do, if a named one is missing or down, or if this process may not capture from it.
  static Result<InterfaceSet> find(const std::string& names);

  /// Returns names() of the set that find() would return now, without checking that each interface exists and can be
  /// captured.
  static std::vector<std::string> names_of(const std::string& names);

  bool is_one() const noexcept { return !is_any_ && interfaces_.size() == 1; }
  bool is_any() const noexcept { return is_any_; }
  std::span<const KernelInterface> interfaces() const noexcept { return interfaces_; }

  /// Returns the interface index a socket binds to, or 0 for all.
  int bound_index() const noexcept { return is_one() ? interfaces_.front().index : 0; }

  /// Returns the kernel's indices if several interfaces are named; empty for one or all.
  std::vector<int> several() const;

  /// Returns the names for the numbers 0, 1, ... that number_of() returns.
  std::vector<std::string> names() const;

  /// Returns the number (RawPacket::interface) of the interface that the kernel calls `index`. If several are named,
  /// `index` must be one of them.
  std::uint8_t number_of(int index) const noexcept;

  /// Returns the longest frame that the link's MTU allows, with two VLAN tags; nullopt if the link has no MTU.
  std::optional<std::uint32_t> longest_frame(std::uint8_t number) const noexcept;

  /// Lets a bound socket receive the interfaces' packets, once each. On the loopback interface every packet appears
  /// both when sent and when received.
  bool let_in(int socket) const;

 private:
  std::vector<KernelInterface> interfaces_;
  bool is_any_ = false;
};

/// Returns the link type of frames with their link-layer header; nullopt for interfaces whose header is not decoded
/// here. `hardware` is ARPHRD_... of net/if_arp.h.
std::optional<LinkType> link_type_of(std::uint16_t hardware) noexcept;

}  // namespace parshall
