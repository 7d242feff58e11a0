// SPDX-License-Identifier: Apache-2.0
#include "traffic/flow_frames.hpp"

#include <algorithm>
#include <cstring>

#include "traffic/checksums.hpp"
#include "traffic/trailer.hpp"

namespace parshall {
namespace {

constexpr std::uint8_t kHops = 64, kTcpNumber = 6, kUdpNumber = 17;

void write_ipv4(std::uint8_t* ip, const FlowTuple& tuple, std::uint32_t bytes) noexcept {
  ip[0] = 0x45;
  put16(ip + 2, bytes);
  ip[8] = kHops;
  ip[9] = tuple.tcp ? kTcpNumber : kUdpNumber;
  std::memcpy(ip + 12, tuple.source, 4);
  std::memcpy(ip + 16, tuple.destination, 4);
  put16(ip + 10, header_checksum(ip));
}

void write_ipv6(std::uint8_t* ip, const FlowTuple& tuple, std::uint32_t payload_bytes) noexcept {
  ip[0] = 0x60;
  put16(ip + 4, payload_bytes);
  ip[6] = tuple.tcp ? kTcpNumber : kUdpNumber;
  ip[7] = kHops;
  std::memcpy(ip + 8, tuple.source, 16);
  std::memcpy(ip + 24, tuple.destination, 16);
}

void write_tcp(std::uint8_t* tcp, const FlowTuple& tuple, const Segment& segment, std::uint32_t header_bytes) noexcept {
  put32(tcp + 4, segment.sequence);
  put32(tcp + 8, segment.acknowledgment);
  tcp[12] = static_cast<std::uint8_t>(header_bytes / 4 << 4);
  tcp[13] = segment.flags;
  put16(tcp + 14, segment.window);
  if (segment.mss_of_mtu == 0) return;
  // RFC 9293, section 3.2, and 3.7.1: the MTU minus the headers without options.
  tcp[20] = 2;
  tcp[21] = Segment::kMssOptionBytes;
  put16(tcp + 22, segment.mss_of_mtu - tuple.ip_header_bytes() - tuple.transport_header_bytes());
}

/// Writes a trailer at the end of a payload of that length. Returns its sum.
std::uint64_t write_trailer(std::uint8_t* payload, std::uint32_t payload_bytes, std::uint32_t stream) noexcept {
  std::uint8_t* const at = payload + payload_bytes - Trailer::kBytes;
  Trailer{.stream = stream}.write(at);
  const std::uint32_t sum = fold_sum(internet_sum(at, Trailer::kBytes));
  return payload_bytes % 2 == 0 ? sum : sum >> 8 | (sum & 0xFF) << 8;  // half a word on (RFC 1071, section 2, B)
}

/// Returns the checksum of pseudo-header, headers and payload. Source: RFC 9293, section 3.1; RFC 768; RFC 8200,
/// section 8.1.
std::uint16_t transport_checksum(const std::uint8_t* transport, const FlowTuple& tuple, std::uint32_t header_bytes,
                                 std::uint32_t payload_bytes, std::uint64_t payload_sum) noexcept {
  const std::size_t address_bytes = tuple.ipv6 ? 16 : 4;
  const std::uint64_t sum = internet_sum(tuple.source, address_bytes) + internet_sum(tuple.destination, address_bytes) +
                            (tuple.tcp ? kTcpNumber : kUdpNumber) + header_bytes + payload_bytes +
                            internet_sum(transport, header_bytes) + payload_sum;
  const auto checksum = static_cast<std::uint16_t>(~fold_sum(sum));
  return checksum == 0 && !tuple.tcp ? 0xFFFF : checksum;  // in UDP, 0 means no checksum
}

}  // namespace

FlowFrames::FlowFrames(const TrafficSpec& spec) noexcept : link_bytes_(kEthernetBytes) {
  std::ranges::copy(spec.destination_mac, link_.begin());
  std::ranges::copy(spec.source_mac, link_.begin() + spec.destination_mac.size());
  const auto add_tag = [this](std::uint32_t type, std::uint32_t vlan) {
    put16(&link_[link_bytes_ - 2], type);
    put16(&link_[link_bytes_], vlan);
    link_bytes_ += kTagBytes;
  };
  // Types of IEEE 802.1Q, table 9-1.
  if (spec.outer_vlan != 0) add_tag(0x88A8, spec.outer_vlan);
  if (spec.vlan != 0) add_tag(0x8100, spec.vlan);
}

std::uint32_t FlowFrames::header_bytes(const FlowTuple& tuple) const noexcept {
  return link_bytes_ + tuple.ip_header_bytes() + tuple.transport_header_bytes();
}

void FlowFrames::write(std::uint8_t* frame, const FlowTuple& tuple, const Segment& segment) const noexcept {
  const std::uint32_t header_bytes =
      tuple.transport_header_bytes() + (segment.mss_of_mtu != 0 ? Segment::kMssOptionBytes : 0);
  const std::uint32_t transport_bytes = header_bytes + segment.payload_bytes;
  std::memcpy(frame, link_.data(), link_.size());
  put16(frame + link_bytes_ - 2, tuple.ipv6 ? kEtherIpv6 : kEtherIpv4);
  std::uint8_t* const ip = frame + link_bytes_;
  if (tuple.ipv6)
    write_ipv6(ip, tuple, transport_bytes);
  else
    write_ipv4(ip, tuple, tuple.ip_header_bytes() + transport_bytes);
  std::uint8_t* const transport = ip + tuple.ip_header_bytes();
  std::memcpy(transport, tuple.source_port, 2);
  std::memcpy(transport + 2, tuple.destination_port, 2);
  if (tuple.tcp)
    write_tcp(transport, tuple, segment, header_bytes);
  else
    put16(transport + 4, transport_bytes);
  const std::uint64_t payload_sum =
      segment.stream ? write_trailer(transport + header_bytes, segment.payload_bytes, *segment.stream) : 0;
  put16(transport + (tuple.tcp ? 16 : 6),
        transport_checksum(transport, tuple, header_bytes, segment.payload_bytes, payload_sum));
}

}  // namespace parshall
