// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

#include "pipeline/decode/decode.hpp"

namespace parshall {

/// Captured payload of a TCP segment or a UDP datagram.
struct Payload {
  std::span<const std::uint8_t> bytes;  ///< within the IP datagram: padding of the frame is left out
  std::uint32_t seq = 0;                ///< sequence number in the TCP header; with SYN the payload begins one later
  std::uint16_t src_port = 0, dst_port = 0;
  bool is_tcp = false, is_syn = false;
  bool is_cut = false;  ///< more payload was sent than captured
};

/// Finds the payload of any packet that was counted by this IP header. Returns false, with `payload` unspecified, for
/// TCP fragments, later UDP fragments, other protocols and headers that contradict themselves or were not captured.
///
/// Cost: some 5 to 15 ns for packets that decode_fast() accepts, if the outermost header names the flow or it is TCP;
/// else the walk of read_tcp(), 30 to 80 ns.
bool read_payload(const RawPacket& packet, IpHeader header, Payload& payload) noexcept;

/// IP packet in a frame.
struct IpPacket {
  FlowKey key;
  std::uint16_t tcp_flags = 0;
  std::span<const std::uint8_t> bytes;  ///< as captured, from the IP header on
};

/// Finds the IP packet by which a frame was counted. Returns false, with `found` unspecified, if there is none.
///
/// Cost: 30 to 80 ns.
bool find_ip_packet(const RawPacket& packet, IpHeader header, IpPacket& found) noexcept;

}  // namespace parshall
