// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "pipeline/decode/decode.hpp"

using namespace parshall;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

bool has_ports(std::uint8_t protocol) {
  return protocol == 6 || protocol == 17 || protocol == 33 || protocol == 132 || protocol == 136;
}

void check(const RawPacket& packet, const PacketFacts& facts) {
  const FlowKey& key = facts.key;
  require(key.ip_version == 4 || key.ip_version == 6);
  require(key.reserved == 0);
  require(facts.ip_bytes() >= (key.ip_version == 4 ? 20u : 40u));
  require(facts.time_ns == packet.time_ns);
  require(has_ports(key.protocol) || (key.src_port() == 0 && key.dst_port() == 0));
  require(key.protocol == 6 || facts.counts.tcp_flags() == 0);
}

}  // namespace

/// Input: link type (2 bytes, little endian), bytes on the wire beyond the captured ones, the frame.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kPrefixBytes = 3;
  if (size < kPrefixBytes) return 0;
  // A block of exactly the captured size, so that the address sanitizer sees any byte read beyond it.
  const std::size_t captured_bytes = size - kPrefixBytes;
  const auto frame = std::make_unique<std::uint8_t[]>(captured_bytes);
  std::copy_n(data + kPrefixBytes, captured_bytes, frame.get());
  const RawPacket packet{.data = frame.get(),
                         .time_ns = 1,
                         .captured_bytes = static_cast<std::uint32_t>(captured_bytes),
                         .wire_bytes = static_cast<std::uint32_t>(captured_bytes + data[2]),
                         .link_type = static_cast<LinkType>(data[0] | data[1] << 8)};
  PacketFacts outer{}, inner{};
  const Verdict verdict = decode_any(packet, IpHeader::outermost, outer);
  require(decode_any(packet, IpHeader::innermost, inner) == verdict);
  require(static_cast<std::size_t>(verdict) < kVerdicts);
  if (verdict == Verdict::counted) {
    check(packet, outer);
    check(packet, inner);
  }
  return 0;
}
