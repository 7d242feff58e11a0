// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/application/sha256.hpp"

// The functions that OpenSSL 3.0 calls deprecated: what replaces them allocates a context for every digest, which takes
// as long as a short digest does.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include <algorithm>

namespace parshall {

Sha256Digest sha256(std::span<const std::uint8_t> first, std::span<const std::uint8_t> second) noexcept {
  SHA256_CTX state;
  Sha256Digest digest;
  SHA256_Init(&state);
  SHA256_Update(&state, first.data(), first.size());
  SHA256_Update(&state, second.data(), second.size());
  SHA256_Final(digest.data(), &state);
  return digest;
}

Sha256Digest hmac_sha256(std::span<const std::uint8_t> key, std::span<const std::uint8_t> message) noexcept {
  std::array<std::uint8_t, kSha256BlockBytes> inner_pad, outer_pad;
  inner_pad.fill(0x36);
  outer_pad.fill(0x5c);
  for (std::size_t i = 0; i < std::min(key.size(), kSha256BlockBytes); ++i) {
    inner_pad[i] ^= key[i];
    outer_pad[i] ^= key[i];
  }
  return sha256(outer_pad, sha256(inner_pad, message));
}

}  // namespace parshall
