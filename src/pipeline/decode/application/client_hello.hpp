// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

namespace parshall {

/// Parts of a ClientHello that JA4 is made of. The spans point into the message.
struct ClientHello {
  std::uint16_t version = 0;                           ///< highest in supported_versions, else the legacy version
  std::span<const std::uint8_t> ciphers;               ///< 2 bytes each; an odd last byte is left out
  std::span<const std::uint8_t> extensions;            ///< whole extensions, one after another
  std::span<const std::uint8_t> first_alpn;            ///< first name that ALPN offers
  std::span<const std::uint8_t> signature_algorithms;  ///< 2 bytes each
  bool has_server_name = false;                        ///< the extension is present, with a name or without
};

/// Returns whether a value of TLS is reserved for detecting servers that do not ignore what they do not know.
/// Source: RFC 8701.
constexpr bool is_grease(std::uint16_t value) noexcept {
  return (value & 0x0f0f) == 0x0a0a && value >> 8 == (value & 0xff);
}

}  // namespace parshall
