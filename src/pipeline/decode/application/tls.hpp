// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

#include "pipeline/decode/application/facts.hpp"

namespace parshall {

/// Longest hello, with its header, that is read.
inline constexpr std::size_t kMostHelloBytes = 16384;

/// Reads a ClientHello or ServerHello from the first bytes of one direction of a TCP connection. The message may be
/// split over several records, and warnings may precede it.
///
/// A longer hello than kMostHelloBytes is unknown, and so is one that is incomplete after as many bytes. SSL 2.0 is
/// unknown too.
/// Source: RFC 8446, RFC 5246; server_name and ALPN by RFC 6066 and RFC 7301.
Reading read_tls(std::span<const std::uint8_t> stream, ApplicationWishes wishes, ApplicationFacts& facts) noexcept;

/// Reads one handshake message, which may be incomplete; over QUIC only a ClientHello.
///
/// If an extension occurs twice, the first one counts. A message whose lengths contradict each other is unknown, unless
/// its server name (in a ServerHello its version) came before the contradiction.
Reading read_hello(std::span<const std::uint8_t> handshake, bool over_quic, ApplicationWishes wishes,
                   ApplicationFacts& facts) noexcept;

}  // namespace parshall
