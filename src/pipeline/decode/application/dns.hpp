// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

#include "pipeline/decode/application/facts.hpp"

namespace parshall {

/// Rules by which a DNS message is credible.
enum class DnsKind : std::uint8_t {
  unicast,    ///< DNS and LLMNR: one question
  multicast,  ///< mDNS: a few questions, or answers without any
};

inline constexpr std::uint16_t kDnsPort = 53, kMulticastDnsPort = 5353, kLlmnrPort = 5355;

constexpr bool is_dns_port(std::uint16_t port) noexcept {
  return port == kDnsPort || port == kMulticastDnsPort || port == kLlmnrPort;
}

/// Reads the first question's name, and the response code, of one message over UDP. The caller checks the ports. A name
/// that points to another is unknown: there is none before the first. needs_more says that the message was cut.
///
/// Source: RFC 1035, RFC 2136 (UPDATE), RFC 1996 (NOTIFY), RFC 6762 (mDNS), RFC 4795 (LLMNR).
Reading read_dns(std::span<const std::uint8_t> message, ApplicationFacts& facts,
                 DnsKind kind = DnsKind::unicast) noexcept;

/// Reads the same from the first bytes of one direction of a TCP connection, of which the first question has to be
/// there.
Reading read_dns_stream(std::span<const std::uint8_t> stream, ApplicationFacts& facts) noexcept;

}  // namespace parshall
