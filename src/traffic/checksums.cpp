// SPDX-License-Identifier: Apache-2.0
#include "traffic/checksums.hpp"

#include <optional>

#include "traffic/frame.hpp"

namespace parshall {
namespace {

constexpr std::uint8_t kIcmp = 1, kTcp = 6, kUdp = 17, kIcmpv6 = 58;

/// Position of the transport's checksum, and its properties.
struct TransportChecksum {
  std::size_t at;  ///< offset in the transport header
  bool has_pseudo_header;
  bool may_be_none;  ///< true if 0 means "no checksum"
};

std::optional<TransportChecksum> checksum_of(const Datagram& datagram) noexcept {
  switch (datagram.protocol) {
    case kTcp:
      return TransportChecksum{16, true, false};
    case kUdp:
      return TransportChecksum{6, true, datagram.version == 4};
    case kIcmp:
      return TransportChecksum{2, false, false};
    case kIcmpv6:
      return TransportChecksum{2, true, false};
    default:
      return std::nullopt;
  }
}

/// Returns the sum of addresses, protocol and the transport's length.
std::uint64_t pseudo_header_sum(const std::uint8_t* ip, const Datagram& datagram) noexcept {
  const std::size_t addresses = datagram.version == 4 ? 12 : 8, bytes = datagram.version == 4 ? 8 : 32;
  return internet_sum(ip + addresses, bytes) + datagram.protocol + (datagram.end - datagram.payload_at);
}

std::size_t ipv4_header_bytes(const std::uint8_t* ip) noexcept { return std::size_t{ip[0] & 15u} * 4; }

/// Returns whether everything that the transport's checksum covers is present.
bool is_whole(const std::uint8_t* frame, std::size_t frame_bytes, const Datagram& datagram,
              const TransportChecksum& checksum) noexcept {
  return !datagram.fragment && datagram.end <= frame_bytes && datagram.payload_at + checksum.at + 2 <= datagram.end &&
         !is_routed(frame, datagram);
}

std::uint64_t transport_sum(const std::uint8_t* frame, const Datagram& datagram,
                            const TransportChecksum& checksum) noexcept {
  const std::uint64_t header = checksum.has_pseudo_header ? pseudo_header_sum(frame + datagram.at, datagram) : 0;
  return header + internet_sum(frame + datagram.payload_at, datagram.end - datagram.payload_at);
}

}  // namespace

bool is_routed(const std::uint8_t* frame, const Datagram& datagram) noexcept {
  constexpr std::uint8_t kRouting = 43, kFragment = 44, kAh = 51;
  if (datagram.version == 4) return false;
  std::uint8_t header = frame[datagram.at + 6];
  for (std::size_t at = datagram.at + 40; at < datagram.payload_at;) {
    if (header == kRouting) return true;
    const std::size_t length = frame[at + 1];
    const std::size_t bytes = header == kFragment ? 8 : header == kAh ? (length + 2) * 4 : (length + 1) * 8;
    header = frame[at];
    at += bytes;
  }
  return false;
}

std::uint64_t internet_sum(const std::uint8_t* at, std::size_t bytes) noexcept {
  std::uint64_t sum = 0;
  std::size_t i = 0;
  for (; i + 4 <= bytes; i += 4) sum += get32(at + i);
  if (i + 2 <= bytes) {
    sum += get16(at + i);
    i += 2;
  }
  return i < bytes ? sum + (std::uint64_t{at[i]} << 8) : sum;
}

ChecksumState check_checksums(const std::uint8_t* frame, std::size_t frame_bytes, const Datagram& datagram) noexcept {
  const std::uint8_t* const ip = frame + datagram.at;
  if (datagram.version == 4) {
    if (datagram.at + ipv4_header_bytes(ip) > frame_bytes) return ChecksumState::unknown;
    if (fold_sum(internet_sum(ip, ipv4_header_bytes(ip))) != 0xFFFF) return ChecksumState::wrong;
  }
  const auto checksum = checksum_of(datagram);
  if (!checksum || !is_whole(frame, frame_bytes, datagram, *checksum)) return ChecksumState::unknown;
  if (checksum->may_be_none && get16(frame + datagram.payload_at + checksum->at) == 0) return ChecksumState::unknown;
  return fold_sum(transport_sum(frame, datagram, *checksum)) == 0xFFFF ? ChecksumState::good : ChecksumState::wrong;
}

void write_checksums(std::uint8_t* frame, std::size_t frame_bytes, const Datagram& datagram) noexcept {
  std::uint8_t* const ip = frame + datagram.at;
  if (datagram.version == 4 && datagram.at + ipv4_header_bytes(ip) <= frame_bytes) {
    put16(ip + 10, 0);
    put16(ip + 10, static_cast<std::uint16_t>(~fold_sum(internet_sum(ip, ipv4_header_bytes(ip)))));
  }
  const auto checksum = checksum_of(datagram);
  if (!checksum || !is_whole(frame, frame_bytes, datagram, *checksum)) return;
  std::uint8_t* const field = frame + datagram.payload_at + checksum->at;
  put16(field, 0);
  const auto sum = static_cast<std::uint16_t>(~fold_sum(transport_sum(frame, datagram, *checksum)));
  put16(field, sum == 0 && datagram.protocol == kUdp ? 0xFFFF : sum);
}

}  // namespace parshall
