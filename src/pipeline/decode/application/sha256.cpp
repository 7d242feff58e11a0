// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/application/sha256.hpp"

#include <algorithm>

#include "pipeline/decode/application/libcrypto.hpp"
#include "pipeline/decode/application/libcrypto_functions.hpp"

namespace parshall {

Sha256Digest sha256(std::span<const std::uint8_t> first, std::span<const std::uint8_t> second) noexcept {
  SHA256_CTX state;
  Sha256Digest digest;
  libcrypto().sha256_init(&state);
  libcrypto().sha256_update(&state, first.data(), first.size());
  libcrypto().sha256_update(&state, second.data(), second.size());
  libcrypto().sha256_final(digest.data(), &state);
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

const std::optional<Error>& crypto_problem() { return libcrypto().loader.problem(); }

bool is_built_with_crypto() noexcept { return true; }

}  // namespace parshall
