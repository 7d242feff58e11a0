// SPDX-License-Identifier: Apache-2.0
#include "traffic/replay_writer.hpp"

#include <algorithm>

#include "pipeline/decode/ip.hpp"
#include "pipeline/decode/layers.hpp"
#include "traffic/checksums.hpp"
#include "traffic/frame.hpp"

namespace parshall {
namespace {

constexpr std::uint8_t kTcpProtocol = 6, kUdpProtocol = 17;

/// Returns how many bytes before the IP header an Ethernet header replaces; nullopt without an IP header.
std::optional<std::uint32_t> foreign_link_bytes(const RawPacket& packet) noexcept {
  const Frame frame(packet.data, packet.captured_bytes, packet.wire_bytes);
  const Step step = walk_to_ip(frame, enter_link(frame, packet.link_type, 0));
  if (!step.at_ip() || !frame.has(step.at, 1)) return std::nullopt;
  const unsigned version = frame.u8(step.at) >> 4;
  return version == 4 || version == 6 ? std::optional(static_cast<std::uint32_t>(step.at)) : std::nullopt;
}

/// Makes the length fields end the datagram with the frame, if it was longer or its length was unknown.
void end_with_frame(std::uint8_t* frame, std::uint32_t frame_bytes, Datagram& datagram) noexcept {
  const auto ip_bytes = static_cast<std::uint32_t>(frame_bytes - datagram.at);
  const bool whole_udp =
      datagram.protocol == kUdpProtocol && !datagram.fragment && datagram.payload_at + 8 <= frame_bytes;
  if (datagram.version == 4) {
    put16(frame + datagram.at + 2, ip_bytes);
  } else {
    put16(frame + datagram.at + 4, ip_bytes - 40);
  }
  if (whole_udp) put16(frame + datagram.payload_at + 4, static_cast<std::uint32_t>(frame_bytes - datagram.payload_at));
  datagram.end = frame_bytes;
  datagram.ip_bytes = ip_bytes;
}

/// Changes the lower 24 bits of both addresses.
void change_addresses(std::uint8_t* frame, const Datagram& datagram, std::uint32_t mask) noexcept {
  const std::size_t bytes = datagram.version == 4 ? 4 : 16;
  std::uint8_t* const first = frame + datagram.at + (datagram.version == 4 ? 12 : 8);
  for (std::uint8_t* end : {first + bytes, first + 2 * bytes}) {
    end[-3] ^= static_cast<std::uint8_t>(mask >> 16);
    end[-2] ^= static_cast<std::uint8_t>(mask >> 8);
    end[-1] ^= static_cast<std::uint8_t>(mask);
  }
}

/// Updates the checksum of a first fragment, which covers data that is elsewhere: HC' = ~(~HC + ~m + m'). RFC 1624,
/// equation 3.
void update_checksum(std::uint8_t* frame, std::uint32_t frame_bytes, const Datagram& datagram, std::uint64_t before,
                     std::uint64_t after) noexcept {
  const std::size_t at = datagram.payload_at + (datagram.protocol == kTcpProtocol ? 16 : 6);
  const bool has_one = datagram.protocol == kTcpProtocol || datagram.protocol == kUdpProtocol;
  if (!has_one || datagram.later_fragment || at + 2 > frame_bytes) return;
  const std::uint32_t old = get16(frame + at);
  if (datagram.protocol == kUdpProtocol && old == 0) return;
  const std::uint16_t changed = static_cast<std::uint16_t>(
      ~fold_sum((~old & 0xFFFF) + (~std::uint32_t{fold_sum(before)} & 0xFFFF) + fold_sum(after)));
  put16(frame + at, datagram.protocol == kUdpProtocol && changed == 0 ? 0xFFFF : changed);
}

/// Returns the sum of both addresses.
std::uint64_t address_sum(const std::uint8_t* frame, const Datagram& datagram) noexcept {
  const bool ipv4 = datagram.version == 4;
  return internet_sum(frame + datagram.at + (ipv4 ? 12 : 8), ipv4 ? 8 : 32);
}

/// Returns a mask that differs for any two of 2^24 loops; the first has none.
std::uint32_t mask_of(std::uint64_t loop) noexcept {
  constexpr std::uint32_t kOdd = 0x9E3779B1;
  return static_cast<std::uint32_t>(loop) * kOdd & 0xFFFFFF;
}

}  // namespace

void ReplayWriter::lengths(std::span<const RawPacket> packets, std::span<OutFrame> frames) noexcept {
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const RawPacket& packet = packets[i];
    std::uint64_t bytes = std::max(packet.wire_bytes, packet.captured_bytes);
    if (packet.link_type != LinkType::ethernet) {
      const auto link_bytes = foreign_link_bytes(packet);
      bytes = link_bytes ? bytes - *link_bytes + kEthernetBytes : 0;
    }
    if (bytes != 0) {
      const auto without_fcs = [](std::uint32_t with) { return std::uint64_t{with} - std::min(with, kFcsBytes); };
      if (changes_.most_bytes != 0) bytes = std::min(bytes, without_fcs(changes_.most_bytes));
      bytes = std::max(bytes, without_fcs(changes_.least_bytes));
    }
    frames[i].bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX));
  }
}

void ReplayWriter::write(std::span<const RawPacket> packets, std::span<const OutFrame> frames,
                         std::span<const std::uint64_t>) noexcept {
  const std::uint32_t mask = changes_.fresh_flows ? mask_of(loop_()) : 0;
  for (std::size_t i = 0; i < packets.size(); ++i) write(packets[i], frames[i], mask);
}

void ReplayWriter::write(const RawPacket& packet, const OutFrame& frame, std::uint32_t mask) const noexcept {
  std::uint32_t from = 0, to = 0;
  const bool foreign = packet.link_type != LinkType::ethernet;
  if (foreign) {
    from = foreign_link_bytes(packet).value_or(0);
    to = kEthernetBytes;
    write_ethernet(frame.data, packet.data[from] >> 4 == 6 ? kEtherIpv6 : kEtherIpv4);
  }
  const std::uint32_t there = std::min(packet.captured_bytes - from, frame.bytes - to);
  std::memcpy(frame.data + to, packet.data + from, there);
  std::memset(frame.data + to + there, 0, frame.bytes - to - there);
  if (frame.bytes >= kEthernetBytes) {
    if (changes_.destination_mac) std::ranges::copy(*changes_.destination_mac, frame.data);
    if (changes_.source_mac) std::ranges::copy(*changes_.source_mac, frame.data + 6);
  }
  const std::uint32_t captured_end = packet.captured_bytes - from + to;
  const std::uint32_t wire_end = std::max(packet.wire_bytes, packet.captured_bytes) - from + to;
  if (mask == 0 && !changes_.fix_checksums && captured_end == frame.bytes) return;

  Datagram datagram;
  const Frame whole(frame.data, frame.bytes, frame.bytes);
  if (find_datagram(whole, LinkType::ethernet, IpHeader::outermost, datagram) != Verdict::counted) return;
  const bool cut = frame.bytes < wire_end && frame.bytes < datagram.end;
  if (mask == 0 && !changes_.fix_checksums && !cut && captured_end >= datagram.end) return;
  if (cut && frame.bytes - datagram.at <= 0xFFFF) end_with_frame(frame.data, frame.bytes, datagram);
  const bool headers_there = datagram.payload_at <= frame.bytes;
  if (mask != 0 && headers_there && !is_routed(frame.data, datagram)) {
    const std::uint64_t before = address_sum(frame.data, datagram);
    change_addresses(frame.data, datagram, mask);
    if (datagram.fragment)
      update_checksum(frame.data, frame.bytes, datagram, before, address_sum(frame.data, datagram));
  }
  write_checksums(frame.data, frame.bytes, datagram);
}

}  // namespace parshall
