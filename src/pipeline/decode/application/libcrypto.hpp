// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "base/result.hpp"

namespace parshall {

/// Loads OpenSSL's libcrypto, on the first call. Returns why there are no digests and no ciphers: this build has no
/// OpenSSL, or the library cannot be loaded. Without it, sha256() must not be called, and no QUIC is recognized.
const std::optional<Error>& crypto_problem();

/// Returns whether this build has OpenSSL.
bool is_built_with_crypto() noexcept;

}  // namespace parshall
