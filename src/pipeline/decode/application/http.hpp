// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "pipeline/decode/application/facts.hpp"

namespace parshall {

/// Bytes of a request's head that are read. Behind them what was found counts.
inline constexpr std::size_t kMostHttpHeadBytes = 8192;

/// Reads Host and User-Agent of an HTTP/1.x request from the first bytes of one direction of a TCP connection.
/// Responses and HTTP/2 are unknown, and so is a request whose first line is longer than kMostHttpHeadBytes.
///
/// Source: RFC 9112; methods by IANA's registry and UPnP.
Reading read_http(std::span<const std::uint8_t> stream, ApplicationFacts& facts) noexcept;

}  // namespace parshall
