// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "pipeline/capture/packet.hpp"
#include "pipeline/decode/facts.hpp"

namespace parshall::lab {

/// How much of a packet's identity is read; each value includes the previous ones.
enum class HeaderFields : std::uint8_t { none, addresses, ports, five_tuple };

/// Reads the identity of packets.
class HeaderReader {
 public:
  virtual ~HeaderReader() = default;

  /// Reads each packet, and uses the result.
  virtual void read(std::span<const RawPacket> packets) noexcept = 0;

  /// Does the same and returns a key for each packet; fields that it does not read are zero.
  virtual void keys(std::span<const RawPacket> packets, std::span<FlowKey> keys) noexcept = 0;
};

/// A method to read the identity of packets.
struct HeaderAccess {
  std::string_view name;
  std::string_view help;
  HeaderFields fields;
  std::unique_ptr<HeaderReader> (*make)(bool prefetch, std::uint64_t seed);

  bool touches_packets() const noexcept { return fields != HeaderFields::none; }
};

/// Lists all methods.
std::span<const HeaderAccess> header_accesses() noexcept;

}  // namespace parshall::lab
