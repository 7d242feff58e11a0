// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace parshall {

inline constexpr std::size_t kSha256Bytes = 32, kSha256BlockBytes = 64;
using Sha256Digest = std::array<std::uint8_t, kSha256Bytes>;

/// Returns the digest of `first` and, behind it, `second`. Allocates nothing.
Sha256Digest sha256(std::span<const std::uint8_t> first, std::span<const std::uint8_t> second = {}) noexcept;

/// Returns the HMAC (RFC 2104) of `message`, by a key of at most kSha256BlockBytes.
Sha256Digest hmac_sha256(std::span<const std::uint8_t> key, std::span<const std::uint8_t> message) noexcept;

}  // namespace parshall
