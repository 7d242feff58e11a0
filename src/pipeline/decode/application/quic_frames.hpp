// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

#include "pipeline/decode/application/first_bytes.hpp"

namespace parshall {

/// Puts the data of the CRYPTO frames in an Initial packet's payload, which is decrypted already, into `crypto`.
/// Returns false at the first frame that is broken or not allowed in such a packet; data before it stays. Source: RFC
/// 9000, 12.4 and 19.
bool read_initial_frames(std::span<const std::uint8_t> payload, FirstBytes& crypto) noexcept;

}  // namespace parshall
