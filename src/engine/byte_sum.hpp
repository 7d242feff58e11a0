// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

#include "pipeline/decode/facts.hpp"

namespace parshall {

/// Adds up the bytes of packets, a group at a time.
///
/// Cost:   a shift and an addition for each packet, on a word that its flow reads anyway.
class ByteSum {
 public:
  /// Adds at most eight packets. The sum of their ip_bytes, 22 bits each, fits the word's 27 bits. The mark of a wide
  /// packet stands above the largest sum of narrow ones.
  [[gnu::always_inline]] void add(std::span<const PacketFacts> group) noexcept {
    std::uint64_t sum = 0;
    for (const PacketFacts& packet : group) sum += packet.counts.bits() >> CountWord::kIpShift;
    if (sum >= CountWord::kWide >> CountWord::kIpShift) [[unlikely]]
      return add_each(group);
    constexpr unsigned kIpBits = CountWord::kExtraShift - CountWord::kIpShift;
    constexpr unsigned kExtraBits = CountWord::kPacketShift - CountWord::kExtraShift;
    const std::uint64_t ip = sum & ((std::uint64_t{1} << kIpBits) - 1);
    const std::uint64_t extra = (sum >> kIpBits) - (std::uint64_t{group.size()} << kExtraBits);  // each counts as one
                                                                                                 // packet
    ip_ += ip;
    wire_ += ip + extra;
  }

  std::uint64_t ip_bytes() const noexcept { return ip_; }
  std::uint64_t wire_bytes() const noexcept { return wire_; }

 private:
  [[gnu::noinline]] void add_each(std::span<const PacketFacts> group) noexcept {
    for (const PacketFacts& packet : group) {
      ip_ += packet.ip_bytes();
      wire_ += packet.wire_bytes();
    }
  }

  std::uint64_t ip_ = 0, wire_ = 0;
};

}  // namespace parshall
