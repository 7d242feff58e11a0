// SPDX-License-Identifier: Apache-2.0
#include "generate/flow_frames.hpp"

#include <cstring>

#include "generate/checksums.hpp"
#include "generate/frame.hpp"

namespace parshall {
namespace {

constexpr std::uint8_t kHops = 64, kTcp = 6, kUdp = 17;

void write_ipv4(std::uint8_t* ip, const FlowTuple& tuple, std::uint32_t bytes) noexcept {
  ip[0] = 0x45;
  put16(ip + 2, bytes);
  ip[8] = kHops;
  ip[9] = tuple.tcp ? kTcp : kUdp;
  std::memcpy(ip + 12, tuple.source, 4);
  std::memcpy(ip + 16, tuple.destination, 4);
  put16(ip + 10, header_checksum(ip));
}

void write_ipv6(std::uint8_t* ip, const FlowTuple& tuple, std::uint32_t payload_bytes) noexcept {
  ip[0] = 0x60;
  put16(ip + 4, payload_bytes);
  ip[6] = tuple.tcp ? kTcp : kUdp;
  ip[7] = kHops;
  std::memcpy(ip + 8, tuple.source, 16);
  std::memcpy(ip + 24, tuple.destination, 16);
}

void write_tcp(std::uint8_t* tcp, const Segment& segment) noexcept {
  put32(tcp + 4, segment.sequence);
  put32(tcp + 8, segment.acknowledgment);
  tcp[12] = 5 << 4;
  tcp[13] = segment.flags;
  put16(tcp + 14, segment.window);
}

/// Of the pseudo-header (RFC 9293, section 3.1; RFC 768; RFC 8200, section 8.1), the headers and a payload of zeros.
std::uint16_t transport_checksum(const std::uint8_t* transport, const FlowTuple& tuple,
                                 std::uint32_t transport_bytes) noexcept {
  const std::size_t address_bytes = tuple.ipv6 ? 16 : 4;
  const std::uint64_t sum = internet_sum(tuple.source, address_bytes) + internet_sum(tuple.destination, address_bytes) +
                            (tuple.tcp ? kTcp : kUdp) + transport_bytes +
                            internet_sum(transport, tuple.transport_header_bytes());
  const auto checksum = static_cast<std::uint16_t>(~fold_sum(sum));
  return checksum == 0 && !tuple.tcp ? 0xFFFF : checksum;  // UDP's 0 says that there is none
}

}  // namespace

std::uint32_t FlowFrames::header_bytes(const FlowTuple& tuple) const noexcept {
  return link_bytes() + tuple.ip_header_bytes() + tuple.transport_header_bytes();
}

void FlowFrames::write(std::uint8_t* frame, const FlowTuple& tuple, const Segment& segment) const noexcept {
  const std::uint32_t transport_bytes = tuple.transport_header_bytes() + segment.payload_bytes;
  write_ethernet(frame, tuple.ipv6 ? kEtherIpv6 : kEtherIpv4);
  std::uint8_t* const ip = frame + link_bytes();
  if (tuple.ipv6)
    write_ipv6(ip, tuple, transport_bytes);
  else
    write_ipv4(ip, tuple, tuple.ip_header_bytes() + transport_bytes);
  std::uint8_t* const transport = ip + tuple.ip_header_bytes();
  std::memcpy(transport, tuple.source_port, 2);
  std::memcpy(transport + 2, tuple.destination_port, 2);
  if (tuple.tcp)
    write_tcp(transport, segment);
  else
    put16(transport + 4, transport_bytes);
  put16(transport + (tuple.tcp ? 16 : 6), transport_checksum(transport, tuple, transport_bytes));
}

}  // namespace parshall
