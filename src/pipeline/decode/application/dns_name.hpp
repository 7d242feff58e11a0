// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "pipeline/decode/application/cursor.hpp"
#include "pipeline/decode/application/facts.hpp"

namespace parshall {

/// Takes a name without pointers from the front. Its text is printable ASCII; other bytes are written as \DDD (RFC
/// 1035, 5.1). A name that points to another is unknown.
Reading take_dns_name(Cursor& in, ShortText<255>& name) noexcept;

/// Takes a name that may end with a pointer from the front, and leaves it unread.
void skip_dns_name(Cursor& in) noexcept;

/// Reads the name at `at`, with what its pointers point to. Returns false if it is broken, too long or cut.
bool read_dns_name(std::span<const std::uint8_t> message, std::size_t at, ShortText<255>& name) noexcept;

}  // namespace parshall
