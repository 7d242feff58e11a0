// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "pipeline/flow/identity.hpp"

namespace parshall {

/// Part of a flow's key that a task uses. Flows with the same part count as one.
///
/// It is spelled 5tuple, src-dst-port (both addresses, the destination's port and the protocol), src-dst, src, dst,
/// src-port, dst-port (with the protocol), protocol, or with prefixes: src/24 keeps 24 bits of IPv4 sources and twice
/// as many of IPv6 ones; src/24/56 names both.
class KeyPart {
 public:
  static constexpr std::string_view kSpellings =
      "5tuple, src-dst-port, src-dst, src, dst, src-port, dst-port, protocol, src/24 or src/24/48";

  static Result<KeyPart> parse(const std::string& text);

  /// Returns this part with its addresses shortened to that many bits.
  KeyPart with_prefix(std::uint8_t ipv4_bits, std::uint8_t ipv6_bits) const;

  /// Returns the part of `key`, the rest zero; comparable and hashed like any key.
  FlowKey of(const FlowKey& key) const noexcept;

  bool src() const noexcept { return src_; }
  bool dst() const noexcept { return dst_; }
  bool src_port() const noexcept { return src_port_; }
  bool dst_port() const noexcept { return dst_port_; }
  bool protocol() const noexcept { return protocol_; }

  /// Returns how many bits of an address are kept; 32 or 128 mean all.
  std::uint8_t bits(std::uint8_t ip_version) const noexcept { return bits_[ip_version == 6]; }

  /// Returns whether flows of these fields have this part.
  bool within(KeyFields fields) const noexcept;

  friend bool operator==(const KeyPart& a, const KeyPart& b) noexcept { return a.name_ == b.name_; }

 private:
  std::string name_;
  bool src_ = false, dst_ = false, src_port_ = false, dst_port_ = false, protocol_ = false;
  std::array<std::uint8_t, 2> bits_{32, 128};
};

/// Returns a value below, at or above 0 as `a` sorts before, like or after `b`: by version, then byte by byte.
int order_of(const FlowKey& a, const FlowKey& b) noexcept;

}  // namespace parshall
