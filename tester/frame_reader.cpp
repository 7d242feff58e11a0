// SPDX-License-Identifier: Apache-2.0
#include "tester/frame_reader.hpp"

#include <bit>
#include <cstring>

#include "pipeline/decode/ip.hpp"
#include "traffic/frame.hpp"

namespace parshall::tester {

/// Position of a trailer, and the state of the checksums around it.
struct FrameReader::Place {
  const std::uint8_t* trailer;
  ChecksumState checksums;
};

namespace {

constexpr std::uint8_t kTcp = 6, kUdp = 17;
constexpr std::size_t kUdpHeader = 8, kTcpHeader = 20, kIpv4Header = 20;

std::uint16_t load16(const std::uint8_t* at) noexcept {
  std::uint16_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// Sums bytes like internet_sum(), but in machine byte order. So is the folded sum, and whether it is all ones does not
/// depend on byte order (RFC 1071, section 2 B).
[[gnu::always_inline]] inline std::uint64_t machine_sum(const std::uint8_t* at, std::size_t bytes) noexcept {
  std::uint64_t sum = 0;
  std::size_t i = 0;
  for (; i + 4 <= bytes; i += 4) {
    std::uint32_t word;
    std::memcpy(&word, at + i, sizeof word);
    sum += word;
  }
  if (i + 2 <= bytes) {
    sum += load16(at + i);
    i += 2;
  }
  return i < bytes ? sum + at[i] : sum;
}

bool is_all_ones(std::uint64_t sum) noexcept { return fold_sum(sum) == 0xFFFF; }

bool has_ports(const Datagram& datagram) noexcept { return datagram.protocol == kTcp || datagram.protocol == kUdp; }

/// Returns where the payload of the TCP or UDP datagram begins; its end if the header is missing or has an invalid
/// length.
std::size_t payload_of(const Frame& frame, const Datagram& datagram) noexcept {
  if (datagram.protocol == kUdp) return datagram.payload_at + kUdpHeader;
  if (!frame.has(datagram.payload_at, kTcpHeader)) return datagram.end;
  const std::size_t header = std::size_t{frame.u8(datagram.payload_at + 12)} / 16 * 4;
  return header < kTcpHeader ? datagram.end : datagram.payload_at + header;
}

bool is_cut(const RawPacket& packet) noexcept { return packet.captured_bytes < packet.wire_bytes; }

}  // namespace

TestFrame FrameReader::read(const RawPacket& packet) const noexcept {
  const std::optional<Place> place = find_plain(packet);
  if (place && place->checksums != ChecksumState::unknown) [[likely]]
    return judge(packet, *place);
  return read_any(packet);
}

/// Finds the trailer of the common kind of frame; gives the same result as read_any().
std::optional<FrameReader::Place> FrameReader::find_plain(const RawPacket& packet) noexcept {
  constexpr std::size_t kIp = kEthernetBytes, kTransport = kIp + kIpv4Header;
  const std::uint8_t* const data = packet.data;
  if (packet.link_type != LinkType::ethernet) return std::nullopt;
  if (packet.captured_bytes < kTransport + kTcpHeader) return std::nullopt;
  if (get16(data + 12) != kEtherIpv4 || data[kIp] != 0x45) return std::nullopt;
  const std::size_t ip_bytes = get16(data + kIp + 2), end = kIp + ip_bytes;
  const std::uint8_t protocol = data[kIp + 9];
  const bool is_fragment = (get16(data + kIp + 6) & 0x3FFF) != 0;
  if (is_fragment || end > packet.captured_bytes || (protocol != kUdp && protocol != kTcp)) return std::nullopt;
  const std::size_t header = protocol == kUdp ? kUdpHeader : std::size_t{data[kTransport + 12]} / 16 * 4;
  if (protocol == kTcp && header < kTcpHeader) return std::nullopt;
  if (kTransport + header + Trailer::kBytes > end) return std::nullopt;

  const std::size_t transport_bytes = ip_bytes - kIpv4Header;
  const std::uint64_t pseudo_header = machine_sum(data + kIp + 12, 8) + (std::uint64_t{protocol} << 8) +
                                      __builtin_bswap16(static_cast<std::uint16_t>(transport_bytes));
  const bool has_checksum = protocol == kTcp || load16(data + kTransport + 6) != 0;
  const bool is_good = is_all_ones(machine_sum(data + kIp, kIpv4Header)) &&
                       (!has_checksum || is_all_ones(pseudo_header + machine_sum(data + kTransport, transport_bytes)));
  const ChecksumState state = !is_good       ? ChecksumState::wrong
                              : has_checksum ? ChecksumState::good
                                             : ChecksumState::unknown;
  return Place{data + end - Trailer::kBytes, state};
}

TestFrame FrameReader::read_any(const RawPacket& packet) const noexcept {
  const Frame frame(packet.data, packet.captured_bytes, packet.wire_bytes);
  Datagram datagram;
  Verdict verdict = find_datagram(frame, packet.link_type, IpHeader::outermost, datagram);
  if (verdict == Verdict::counted && !has_ports(datagram))
    verdict = find_datagram(frame, packet.link_type, IpHeader::innermost, datagram);
  if (verdict != Verdict::counted || !has_ports(datagram)) return read_end(packet);
  if (datagram.fragment) return {.kind = FrameKind::cut};
  if (datagram.end > packet.captured_bytes) return read_end(packet);
  if (payload_of(frame, datagram) + Trailer::kBytes > datagram.end) return read_end(packet);

  ChecksumState checksums = check_checksums(packet.data, packet.captured_bytes, datagram);
  if (checksums == ChecksumState::unknown) {  // a tunnel over UDP may have no checksum, and ends with its content
    Datagram inner;
    const Verdict within = find_datagram(frame, packet.link_type, IpHeader::innermost, inner);
    if (within == Verdict::counted && inner.end == datagram.end)
      checksums = check_checksums(packet.data, packet.captured_bytes, inner);
  }
  return judge(packet, {packet.data + datagram.end - Trailer::kBytes, checksums});
}

/// Reads a frame whose headers lead to no trailer.
TestFrame FrameReader::read_end(const RawPacket& packet) const noexcept {
  if (is_cut(packet)) return {.kind = FrameKind::cut};
  if (packet.captured_bytes < Trailer::kBytes) return {};
  const std::uint8_t* const end = packet.data + packet.captured_bytes - Trailer::kBytes;
  if (get16(end) != Trailer::kMagic) return {};
  const TestFrame corrupted = frame_of(FrameKind::corrupted, packet, end);
  return corrupted.is_credible ? corrupted : TestFrame{};
}

TestFrame FrameReader::judge(const RawPacket& packet, const Place& place) const noexcept {
  const auto wrong_bits = std::popcount(get16(place.trailer) ^ Trailer::kMagic);
  if (place.checksums == ChecksumState::wrong) {
    // Other traffic of this host may have checksums that a device should fill in: they are wrong without any
    // corruption.
    return wrong_bits <= 1 ? frame_of(FrameKind::corrupted, packet, place.trailer) : TestFrame{};
  }
  if (wrong_bits != 0) return {};
  TestFrame frame = frame_of(FrameKind::ours, packet, place.trailer);
  if (!frame.is_credible) frame.kind = FrameKind::contradictory;
  return frame;
}

TestFrame FrameReader::frame_of(FrameKind kind, const RawPacket& packet, const std::uint8_t* trailer) const noexcept {
  TestFrame frame{.kind = kind,
                  .trailer = {.stream = get32(trailer + 8) ^ plan_.id,
                              .sequence = get32(trailer + 12),
                              .time_ns = std::uint64_t{get16(trailer + 2)} << 32 | get32(trailer + 4)}};
  frame.trailer.time_ns = frame.trailer.full_time_ns(packet.time_ns);
  frame.is_credible = was_to_be_sent(frame.trailer);
  return frame;
}

bool FrameReader::was_to_be_sent(const Trailer& trailer) const noexcept {
  return trailer.stream < plan_.streams && trailer.sequence < plan_.frames && trailer.time_ns >= plan_.begin_ns &&
         trailer.time_ns <= plan_.end_ns;
}

}  // namespace parshall::tester
