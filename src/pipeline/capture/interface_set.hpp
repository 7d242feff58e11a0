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

/// The kernel interfaces that one packet socket captures from: one, several, or all there are and will be.
class InterfaceSet {
 public:
  static constexpr std::string_view kAny = "any";      ///< asks for all, as tcpdump has it
  static constexpr std::string_view kOther = "other";  ///< name of those that came after the start

  /// Reads "eth0", "eth0,eth1" or "any". An interface that is really called so comes first. Fails, saying what to do,
  /// where one that is named is missing, down, or closed to us.
  static Result<InterfaceSet> find(const std::string& names);

  /// Returns names() of what find() would find now, without looking whether each is there and can be captured.
  static std::vector<std::string> names_of(const std::string& names);

  bool is_one() const noexcept { return !is_any_ && interfaces_.size() == 1; }
  bool is_any() const noexcept { return is_any_; }
  std::span<const KernelInterface> interfaces() const noexcept { return interfaces_; }

  /// Returns what a socket binds to: the interface, or 0 for all.
  int bound_index() const noexcept { return is_one() ? interfaces_.front().index : 0; }

  /// Returns the kernel's numbers of several that are named; nothing of one, or of all.
  std::vector<int> several() const;

  /// Returns the names of numbers 0, 1, ... that number_of() gives.
  std::vector<std::string> names() const;

  /// Returns the number of the interface that the kernel calls `index`: RawPacket::interface. Of several that are
  /// named, `index` must be one.
  std::uint8_t number_of(int index) const noexcept;

  /// Returns the longest frame that the link's MTU allows, with two VLAN tags; nothing where it has none.
  std::optional<std::uint32_t> longest_frame(std::uint8_t number) const noexcept;

  /// Lets a bound socket have their packets, once each: on the loopback interface whatever is sent comes in, too.
  bool let_in(int socket) const;

 private:
  std::vector<KernelInterface> interfaces_;
  bool is_any_ = false;
};

/// Returns the type of frames that come with their link-layer header; nothing for interfaces whose header is not read
/// here. `hardware`: ARPHRD_... of net/if_arp.h.
std::optional<LinkType> link_type_of(std::uint16_t hardware) noexcept;

}  // namespace parshall
