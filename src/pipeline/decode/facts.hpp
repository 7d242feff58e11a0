// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace parshall {

/// The five-tuple of a packet, as its bytes stand in the packet (network order).
///
/// Shape: 40 bytes, no padding. IPv4 occupies the first 16 bytes alone (source in address[0..3],
///        destination in address[4..7]) and leaves the rest unspecified; IPv6 uses all 40
///        (source in address[0..15], destination in address[16..31]).
/// Source: RFC 7011 flow key; counting rules in docs/accuracy.md.
struct FlowKey {
  std::array<std::uint8_t, 2> src_port_bytes{};
  std::array<std::uint8_t, 2> dst_port_bytes{};
  std::uint8_t protocol = 0;    ///< IANA number
  std::uint8_t ip_version = 0;  ///< 4 or 6; never 0 in a decoded packet
  std::uint16_t reserved = 0;
  std::array<std::uint8_t, 32> address{};

  static constexpr std::size_t kHeadBytes = 16;  ///< all of an IPv4 key

  std::uint16_t src_port() const noexcept { return static_cast<std::uint16_t>(src_port_bytes[0] << 8 | src_port_bytes[1]); }
  std::uint16_t dst_port() const noexcept { return static_cast<std::uint16_t>(dst_port_bytes[0] << 8 | dst_port_bytes[1]); }
  std::size_t address_bytes() const noexcept { return ip_version == 6 ? 16 : 4; }
  std::span<const std::uint8_t> src_address() const noexcept { return {address.data(), address_bytes()}; }
  std::span<const std::uint8_t> dst_address() const noexcept { return {address.data() + address_bytes(), address_bytes()}; }

  /// Bytes that carry meaning: 16 for IPv4, 40 for IPv6.
  std::size_t significant_bytes() const noexcept { return ip_version == 6 ? sizeof(FlowKey) : kHeadBytes; }

  friend bool operator==(const FlowKey& a, const FlowKey& b) noexcept {
    return std::memcmp(&a, &b, kHeadBytes) == 0 && (a.ip_version != 6 || std::memcmp(&a, &b, sizeof(FlowKey)) == 0);
  }
};
static_assert(sizeof(FlowKey) == 40 && offsetof(FlowKey, address) == 8);

/// What the stages behind decode may know of a packet. Never a device type.
///
/// Shape: 72 bytes; an IPv4 packet touches the first 16 and the last 32.
struct PacketFacts {
  FlowKey key;
  std::uint64_t hash = 0;        ///< keyed hash of `key` (or of the NIC's hash), set by the identity
  std::uint64_t time_ns = 0;     ///< capture time; the only clock statistics may read
  std::uint64_t position = 0;    ///< how many packets were counted on this link before this one
  std::uint32_t sizes = 0;       ///< ip_bytes << 9 | tcp_flags
  std::uint32_t wire_bytes = 0;  ///< original frame length

  static constexpr std::uint32_t kTcpFlagBits = 9;  ///< FIN in bit 0 up to NS in bit 8
  static constexpr std::uint32_t kTcpFlagMask = (1u << kTcpFlagBits) - 1;
  static constexpr std::uint32_t kMaxIpBytes = (1u << (32 - kTcpFlagBits)) - 1;  ///< 8 MiB - 1

  std::uint32_t ip_bytes() const noexcept { return sizes >> kTcpFlagBits; }
  std::uint32_t tcp_flags() const noexcept { return sizes & kTcpFlagMask; }
  void set_sizes(std::uint32_t ip_bytes, std::uint32_t tcp_flags) noexcept {
    sizes = (ip_bytes > kMaxIpBytes ? kMaxIpBytes : ip_bytes) << kTcpFlagBits | (tcp_flags & kTcpFlagMask);
  }
};
static_assert(sizeof(PacketFacts) == 72);

/// What decode made of a packet. Everything but `counted` is a reason why no flow has it.
enum class Verdict : std::uint8_t {
  counted,
  not_ip,                ///< another network protocol (ARP, LLDP, ...), or a link type without IP
  cut_link_header,       ///< captured bytes end inside the link-layer headers
  cut_ip_header,         ///< captured bytes end inside the fixed 20 (IPv4) or 40 (IPv6) byte header
  bad_ip_version,        ///< version nibble contradicts the link layer
  bad_ip_header_length,  ///< IPv4 IHL below 5
  bad_ip_total_length,   ///< IPv4 Total Length below IHL * 4 (and not 0)
  unknown_link_type,     ///< a LINKTYPE_ this program does not decode
};
inline constexpr std::size_t kVerdicts = 8;

constexpr std::string_view verdict_name(Verdict verdict) noexcept {
  constexpr std::array<std::string_view, kVerdicts> kNames{
      "counted", "not_ip", "cut_link_header", "cut_ip_header", "bad_ip_version", "bad_ip_header_length",
      "bad_ip_total_length", "unknown_link_type"};
  return kNames[static_cast<std::size_t>(verdict)];
}

}  // namespace parshall
