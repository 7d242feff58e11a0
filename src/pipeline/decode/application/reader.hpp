// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "pipeline/decode/application/facts.hpp"
#include "pipeline/decode/application/payload.hpp"
#include "pipeline/decode/application/quic.hpp"

namespace parshall {

/// Reads what one direction of a flow says of itself in its first bytes: TLS, HTTP or DNS over TCP; DNS, mDNS, LLMNR or
/// QUIC over UDP. One per worker; it keeps nothing of a flow.
///
/// Cost: a few ns for bytes of another protocol.
class ApplicationReader {
 public:
  explicit ApplicationReader(ApplicationWishes wishes = {}) noexcept : wishes_(wishes) {
    if (wishes.quic) quic_.emplace();
  }

  /// Reads a TCP connection's bytes from its first payload byte on. Call it again with more of them after needs_more.
  Reading read_stream(std::span<const std::uint8_t> first_bytes, std::uint16_t src_port, std::uint16_t dst_port,
                      ApplicationFacts& facts) noexcept;

  /// Reads the payload of one UDP datagram. needs_more says of QUIC that the next datagram continues, and of DNS that
  /// the message was cut.
  Reading read_datagram(std::span<const std::uint8_t> datagram, std::uint16_t src_port, std::uint16_t dst_port,
                        QuicFlow& flow, ApplicationFacts& facts) noexcept;

 private:
  ApplicationWishes wishes_;
  std::optional<QuicReader> quic_;
};

}  // namespace parshall
