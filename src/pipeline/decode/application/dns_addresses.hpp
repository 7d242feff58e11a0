// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/mapped_address.hpp"
#include "pipeline/decode/application/dns.hpp"

namespace parshall {

/// Address as a record of DNS names it.
struct DnsAddress {
  MappedAddress address{};
  ShortText<255> name;  ///< as ApplicationFacts::dns_name, in lower case
};

inline constexpr std::size_t kMostDnsAddresses = 16;

/// Reads the address records (A and AAAA) in a response without error: those of its answers, and in mDNS all. Returns
/// how many were written to `out`; later ones are left out, and so are loopback and unspecified addresses. The name of
/// each is what was asked for, behind which aliases (CNAME) may lie; that of mDNS is the record's own. A message that
/// is broken or cut gives what precedes the fault.
///
/// Source: RFC 1035, RFC 3596 (AAAA), RFC 6762 (mDNS).
std::size_t read_dns_addresses(std::span<const std::uint8_t> message, DnsKind kind,
                               std::span<DnsAddress, kMostDnsAddresses> out) noexcept;

}  // namespace parshall
