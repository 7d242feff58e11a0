// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "pipeline/decode/common_path.hpp"
#include "pipeline/decode/decode.hpp"
#include "pipeline/decode/fast_path.hpp"
#include "pipeline/flow/identity.hpp"

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

/// Whatever a short path takes, the general decoder takes the same way.
void check_short_paths(const RawPacket& packet, Verdict verdict, const PacketFacts& truth) {
  PacketFacts common{};
  if (decode_common(packet, common))
    require(verdict == Verdict::counted && common.key == truth.key && common.counts.bits() == truth.counts.bits());
  FastHeader header;
  if (decode_fast(packet, header)) {
    std::memcpy(static_cast<void*>(&common.key), &header.key_head, sizeof header.key_head);
    require(verdict == Verdict::counted && common.key == truth.key && header.counts.bits() == truth.counts.bits());
  }
  const std::array<RawPacket, 8> group{packet, packet, packet, packet, packet, packet, packet, packet};
  std::array<PacketFacts, 8> facts;
  if (FlowIdentity(KeyFields::five_tuple, Identity::exact, 1).ipv4_group(group.data(), facts.data()))
    for (const PacketFacts& each : facts)
      require(verdict == Verdict::counted && each.key == truth.key && each.counts.bits() == truth.counts.bits());
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
  check_short_paths(packet, verdict, outer);
  if (verdict == Verdict::counted) {
    check(packet, outer);
    check(packet, inner);
  }
  return 0;
}
