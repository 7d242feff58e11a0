// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/counters.hpp"

namespace parshall {

/// Five-tuple of a packet, with its bytes as in the packet (network order).
///
/// Shape: 40 bytes, no padding. IPv4 occupies only the first 16 bytes (source in address[0..3], destination in
///        address[4..7]) and leaves the rest unspecified. IPv6 uses all 40 (source in address[0..15], destination in
///        address[16..31]).
/// Source: RFC 7011 flow key; counting rules in docs/accuracy.md.
struct FlowKey {
  std::array<std::uint8_t, 2> src_port_bytes{};
  std::array<std::uint8_t, 2> dst_port_bytes{};
  std::uint8_t protocol = 0;    ///< IANA number
  std::uint8_t ip_version = 0;  ///< 4 or 6; never 0 in a decoded packet
  std::uint16_t reserved = 0;
  std::array<std::uint8_t, 32> address{};

  static constexpr std::size_t kHeadBytes = 16;  ///< covers a whole IPv4 key

  bool present() const noexcept { return ip_version != 0; }  ///< false for a key that was not decoded

  std::uint16_t src_port() const noexcept {
    return static_cast<std::uint16_t>(src_port_bytes[0] << 8 | src_port_bytes[1]);
  }
  std::uint16_t dst_port() const noexcept {
    return static_cast<std::uint16_t>(dst_port_bytes[0] << 8 | dst_port_bytes[1]);
  }
  std::size_t address_bytes() const noexcept { return ip_version == 6 ? 16 : 4; }
  std::span<const std::uint8_t> src_address() const noexcept { return {address.data(), address_bytes()}; }
  std::span<const std::uint8_t> dst_address() const noexcept {
    return {address.data() + address_bytes(), address_bytes()};
  }

  /// Returns how many bytes carry meaning: 16 for IPv4, 40 for IPv6.
  std::size_t significant_bytes() const noexcept { return ip_version == 6 ? sizeof(FlowKey) : kHeadBytes; }

  friend bool operator==(const FlowKey& a, const FlowKey& b) noexcept {
    return std::memcmp(&a, &b, kHeadBytes) == 0 && (a.ip_version != 6 || std::memcmp(&a, &b, sizeof(FlowKey)) == 0);
  }
};
static_assert(sizeof(FlowKey) == 40 && offsetof(FlowKey, address) == 8);

/// Lengths and TCP flags of one packet, or the sum of several, in one word. Adding a packet to a flow takes one
/// addition.
///
/// Shape: 64 bits: wide 1 | packets 13 | extra_bytes 14 | ip_bytes 27 | tcp_flags 9, where extra_bytes is wire_bytes -
///        ip_bytes. The top bit of each count is a carry: while none is set, one more packet cannot overflow. A packet
///        whose lengths do not fit is wide: it holds ip_bytes and wire_bytes in full. They are small enough that its
///        mark survives the addition to any word without carries.
class CountWord {
 public:
  static constexpr unsigned kIpShift = 9, kExtraShift = kIpShift + 27, kPacketShift = kExtraShift + 14;
  static constexpr std::uint64_t kFlagMask = (1u << kIpShift) - 1;  ///< FIN in bit 0 up to NS in bit 8
  static constexpr std::uint64_t kOnePacket = 1ull << kPacketShift;
  static constexpr std::uint64_t kWide = 1ull << 63;
  static constexpr unsigned kWideWireShift = kIpShift + 22;
  static constexpr std::uint64_t kCarries = kWide | kWide >> 1 | 1ull << (kPacketShift - 1) | 1ull << (kExtraShift - 1);
  static constexpr std::uint32_t kMaxIpBytes = (1u << 22) - 1;     ///< longer packets count as this long
  static constexpr std::uint32_t kMaxWireBytes = (1u << 31) - 1;   ///< longer frames count as this long
  static constexpr std::uint32_t kMaxExtraBytes = (1u << 13) - 1;  ///< limit for a packet that is not wide

  constexpr CountWord() = default;
  explicit constexpr CountWord(std::uint64_t bits) noexcept : bits_(bits) {}

  /// Makes the word of one packet whose lengths are known to fit, with an addition and two shifts.
  static constexpr CountWord narrow(std::uint64_t ip_bytes, std::uint64_t extra_bytes,
                                    std::uint64_t tcp_flags) noexcept {
    return CountWord(kOnePacket | extra_bytes << kExtraShift | ip_bytes << kIpShift | tcp_flags);
  }
  static constexpr CountWord packet(std::uint32_t ip_bytes, std::uint32_t wire_bytes,
                                    std::uint32_t tcp_flags) noexcept {
    const std::uint64_t ip = ip_bytes < kMaxIpBytes ? ip_bytes : kMaxIpBytes;
    const std::uint64_t flags = tcp_flags & kFlagMask;
    if (wire_bytes >= ip && wire_bytes - ip <= kMaxExtraBytes) return narrow(ip, wire_bytes - ip, flags);
    const std::uint64_t wire = wire_bytes < kMaxWireBytes ? wire_bytes : kMaxWireBytes;
    return CountWord(kWide | wire << kWideWireShift | ip << kIpShift | flags);
  }

  constexpr std::uint64_t bits() const noexcept { return bits_; }
  constexpr bool wide() const noexcept { return (bits_ & kWide) != 0; }

  /// Returns whether this sum is invalid, so that both words have to be spilled.
  constexpr bool overflowed() const noexcept { return (bits_ & kCarries) != 0; }

  /// Returns the sum with one more packet. This word must not have overflowed.
  constexpr CountWord plus(CountWord packet) const noexcept {
    return CountWord((bits_ | (packet.bits_ & kFlagMask)) + (packet.bits_ & ~kFlagMask));
  }

  constexpr std::uint64_t packets() const noexcept { return wide() ? 1 : bits_ >> kPacketShift; }
  constexpr std::uint32_t ip_bytes() const noexcept {
    return static_cast<std::uint32_t>(bits_ >> kIpShift & (wide() ? kMaxIpBytes : (1u << 27) - 1));
  }
  constexpr std::int64_t extra_bytes() const noexcept {
    if (wide())
      return static_cast<std::int64_t>(bits_ >> kWideWireShift & kMaxWireBytes) - static_cast<std::int64_t>(ip_bytes());
    return static_cast<std::int64_t>(bits_ >> kExtraShift & ((1u << 14) - 1));
  }
  constexpr std::uint16_t tcp_flags() const noexcept { return static_cast<std::uint16_t>(bits_ & kFlagMask); }

 private:
  std::uint64_t bits_ = 0;
};

/// All that the stages behind decode know about a packet. It contains no device types.
///
/// Shape: one cache line; an IPv4 packet touches its first 16 and last 24 bytes.
struct alignas(64) PacketFacts {
  FlowKey key;
  std::uint64_t hash;     ///< keyed hash of `key` (or of the NIC's hash), set by the identity
  std::uint64_t time_ns;  ///< capture time; the only clock statistics may read
  CountWord counts;       ///< lengths and flags

  std::uint32_t ip_bytes() const noexcept { return counts.ip_bytes(); }
  std::uint32_t wire_bytes() const noexcept {
    return static_cast<std::uint32_t>(counts.ip_bytes() + counts.extra_bytes());
  }
};
static_assert(sizeof(PacketFacts) == 64);

/// Result of decoding a packet. Every value but `counted` is a reason why the packet belongs to no flow.
enum class Verdict : std::uint8_t {
  counted,
  not_ip,                ///< another network protocol (ARP, LLDP, ...), or a link type without IP
  cut_link_header,       ///< captured bytes end inside the link-layer headers
  cut_ip_header,         ///< captured bytes end inside the fixed 20 (IPv4) or 40 (IPv6) byte header
  bad_ip_version,        ///< version nibble contradicts the link layer
  bad_ip_header_length,  ///< IPv4 IHL below 5
  bad_ip_total_length,   ///< IPv4 Total Length (or the rest of the frame, if it is 0) is below IHL * 4
  unknown_link_type,     ///< a LINKTYPE_ this program does not decode
};
inline constexpr std::size_t kVerdicts = 8;

constexpr Counter counter_of(Verdict verdict) noexcept {
  if (verdict == Verdict::counted) return Counter::counted;
  constexpr auto kFirst = static_cast<std::size_t>(Counter::not_ip);
  return static_cast<Counter>(kFirst + static_cast<std::size_t>(verdict) - static_cast<std::size_t>(Verdict::not_ip));
}
static_assert(counter_of(Verdict::cut_ip_header) == Counter::cut_ip_header &&
              counter_of(Verdict::bad_ip_header_length) == Counter::bad_ip_header_length &&
              counter_of(Verdict::unknown_link_type) == Counter::unknown_link_type);

}  // namespace parshall
