// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "compare/packet_id.hpp"
#include "pipeline/decode/application/payload.hpp"
#include "pipeline/decode/common_path.hpp"
#include "pipeline/decode/decode.hpp"
#include "pipeline/decode/dscp.hpp"
#include "pipeline/decode/fast_path.hpp"
#include "pipeline/decode/packet_name.hpp"
#include "pipeline/decode/side.hpp"
#include "pipeline/decode/tcp.hpp"
#include "pipeline/flow/identity.hpp"
#include "targets.hpp"
#include "traffic/checksums.hpp"

namespace parshall::fuzz {
namespace {

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

void require_same(const TcpFacts& a, const TcpFacts& b) {
  require(a.present == b.present);
  if (a.present)
    require(a.seq == b.seq && a.ack == b.ack && a.payload_bytes == b.payload_bytes && a.ts_value == b.ts_value &&
            a.ts_echo == b.ts_echo && a.window == b.window);
}

/// What is read of TCP and of other headers is of the packet that was counted; the short ways say the same.
void check_more_facts(const RawPacket& packet, const PacketFacts& facts, IpHeader header) {
  TcpFacts tcp{};
  read_tcp(packet, header, tcp);
  // An IPv6 length of 0 says nothing: the packet counts as its header, and its segment goes to the frame's end.
  const bool has_length = facts.key.ip_version == 4 || facts.ip_bytes() != 40;
  require(!tcp.present || facts.key.protocol == 6);
  require(!tcp.present || !has_length || tcp.payload_bytes <= facts.ip_bytes() - 40);
  SideFacts side;
  read_side(packet, header, side);
  require(side.dscp < kDscps && (side.vlan == SideFacts::kNone || side.vlan < 4096));
  if (TcpFacts common{}; read_tcp_common(packet, header, common)) require_same(common, tcp);
  FastHeader fast;
  if (!decode_fast(packet, fast)) return;
  TcpFacts fast_tcp{};
  read_tcp_fast(packet, fast_tcp);
  SideFacts fast_side;
  read_side_fast(packet, fast_side);
  if (header != IpHeader::outermost) return;
  const PacketNames names(1);
  require(names.of_fast(packet) == names.of(packet, header));
  require(fast_side.vlan == side.vlan && fast_side.icmp_type_code == side.icmp_type_code && fast_side.ttl == side.ttl &&
          fast_side.dscp == side.dscp);
  require_same(fast_tcp, tcp);
}

/// A payload is of the packet's flow and within its bytes; it is of a segment that is read as one.
void check_payload(const RawPacket& packet, const PacketFacts& facts, IpHeader header) {
  Payload payload;
  if (!read_payload(packet, header, payload)) return;
  require(facts.key.protocol == (payload.is_tcp ? 6 : 17));
  require(payload.src_port == facts.key.src_port() && payload.dst_port == facts.key.dst_port());
  const Bytes bytes = payload.bytes;
  require(bytes.data() >= packet.data && bytes.data() + bytes.size() <= packet.data + packet.captured_bytes);
  TcpFacts tcp{};
  read_tcp(packet, header, tcp);
  if (!payload.is_tcp) return;
  require(tcp.present && tcp.seq == payload.seq && bytes.size() <= tcp.payload_bytes);
  require(payload.is_cut == (bytes.size() < tcp.payload_bytes));
}

/// What two taps have in common of a packet is what the innermost header says, whether addresses are part of it or not.
void check_id(const RawPacket& packet, Verdict verdict, const PacketFacts& innermost) {
  for (const OnTheWay on_the_way : {OnTheWay::forwarded, OnTheWay::translated}) {
    parshall::SeenPacket seen;
    require(PacketIds(1, on_the_way).read(packet, seen) == verdict);
    if (verdict == Verdict::counted) require(seen.key == innermost.key && seen.time_ns == innermost.time_ns);
  }
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

ChecksumState checksums_of(const RawPacket& packet) {
  Datagram datagram;
  const Frame frame(packet.data, packet.captured_bytes, packet.wire_bytes);
  if (find_datagram(frame, packet.link_type, IpHeader::outermost, datagram) != Verdict::counted)
    return ChecksumState::unknown;
  return check_checksums(packet.data, packet.captured_bytes, datagram);
}

/// A mark is written to the outermost IP header and nothing else: the flow, its checksums and all lengths stay.
void check_marking(const RawPacket& packet, Verdict verdict, const PacketFacts& truth, Dscp dscp) {
  Block marked({packet.data, packet.captured_bytes});
  const bool wrote = write_dscp(marked.data(), packet.captured_bytes, packet.link_type, dscp);
  RawPacket again = packet;
  again.data = marked.bytes().data();
  if (!wrote) return require(std::equal(marked.bytes().begin(), marked.bytes().end(), packet.data));
  PacketFacts facts{};
  require(decode_any(again, IpHeader::outermost, facts) == verdict);
  if (verdict != Verdict::counted) return;
  require(facts.key == truth.key && facts.counts.bits() == truth.counts.bits());
  SideFacts side;
  read_side(again, IpHeader::outermost, side);
  require(side.dscp == dscp);
  require(checksums_of(again) == checksums_of(packet));
}

}  // namespace

/// Input: link type (2 bytes, little endian), bytes on the wire beyond the captured ones, the frame.
void fuzz_frame(Bytes input) {
  constexpr std::size_t kPrefixBytes = 3;
  if (input.size() < kPrefixBytes) return;
  const Block frame(input.subspan(kPrefixBytes));
  const auto captured_bytes = static_cast<std::uint32_t>(frame.bytes().size());
  const RawPacket packet{.data = frame.bytes().data(),
                         .time_ns = 1,
                         .captured_bytes = captured_bytes,
                         .wire_bytes = captured_bytes + input[2],
                         .link_type = static_cast<LinkType>(input[0] | input[1] << 8)};
  PacketFacts outer{}, inner{};
  const Verdict verdict = decode_any(packet, IpHeader::outermost, outer);
  require(decode_any(packet, IpHeader::innermost, inner) == verdict);
  require(static_cast<std::size_t>(verdict) < kVerdicts);
  require(count_later_msdus(packet) <= captured_bytes / 14);
  check_short_paths(packet, verdict, outer);
  check_id(packet, verdict, inner);
  if (verdict == Verdict::counted) {
    check(packet, outer);
    check(packet, inner);
    check_more_facts(packet, outer, IpHeader::outermost);
    check_more_facts(packet, inner, IpHeader::innermost);
    check_payload(packet, outer, IpHeader::outermost);
    check_payload(packet, inner, IpHeader::innermost);
  }
  check_marking(packet, verdict, outer, static_cast<Dscp>(input[2] % kDscps));
}

}  // namespace parshall::fuzz
