// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/application/reader.hpp"

#include "pipeline/decode/application/dns.hpp"
#include "pipeline/decode/application/http.hpp"
#include "pipeline/decode/application/tls.hpp"

namespace parshall {
Reading ApplicationReader::read_stream(std::span<const std::uint8_t> first_bytes, std::uint16_t src_port,
                                       std::uint16_t dst_port, ApplicationFacts& facts) noexcept {
  facts.clear();
  if (first_bytes.empty()) return Reading::needs_more;
  const auto has_port = [&](std::uint16_t port) { return src_port == port || dst_port == port; };
  if (has_port(kDnsPort) || has_port(kLlmnrPort)) {
    if (const Reading reading = read_dns_stream(first_bytes, facts); reading != Reading::unknown) return reading;
  }
  constexpr std::uint8_t kTlsAlert = 21, kTlsHandshake = 22;
  const std::uint8_t first = first_bytes[0];
  if (first == kTlsHandshake || first == kTlsAlert) return read_tls(first_bytes, wishes_, facts);
  if (first >= 'A' && first <= 'Z') return read_http(first_bytes, facts);
  return Reading::unknown;
}

Reading ApplicationReader::read_datagram(std::span<const std::uint8_t> datagram, std::uint16_t src_port,
                                         std::uint16_t dst_port, QuicFlow& flow, ApplicationFacts& facts) noexcept {
  facts.clear();
  const auto has_port = [&](std::uint16_t port) { return src_port == port || dst_port == port; };
  if (has_port(kDnsPort) || has_port(kLlmnrPort)) {
    if (const Reading reading = read_dns(datagram, facts); reading != Reading::unknown) return reading;
  } else if (has_port(kMulticastDnsPort)) {
    if (const Reading reading = read_dns(datagram, facts, DnsKind::multicast); reading != Reading::unknown)
      return reading;
  }
  if (!quic_ || !QuicReader::may_be_initial(datagram)) return Reading::unknown;
  return quic_->read(datagram, flow, wishes_, facts);
}

}  // namespace parshall
