// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "targets.hpp"
#include "tester/frame_reader.hpp"
#include "traffic/frame.hpp"

namespace parshall::fuzz {
namespace {

using tester::FrameKind;
using tester::FrameReader;
using tester::TestFrame;

constexpr std::uint64_t kNow = 1'700'000'000'000'000'000;
constexpr tester::TestPlan kPlan{
    .streams = 1000, .frames = 1'000'000, .begin_ns = kNow - 10'000'000'000, .end_ns = kNow + 10'000'000'000};
constexpr std::size_t kIp = kEthernetBytes, kTransport = kIp + 20;

RawPacket packet_of(Bytes frame, LinkType link_type, std::uint32_t not_captured) {
  const auto captured_bytes = static_cast<std::uint32_t>(frame.size());
  return {.data = frame.data(),
          .time_ns = kNow,
          .captured_bytes = captured_bytes,
          .wire_bytes = captured_bytes + not_captured,
          .link_type = link_type};
}

bool same(const TestFrame& a, const TestFrame& b) {
  return a.kind == b.kind && a.is_credible == b.is_credible && a.trailer.stream == b.trailer.stream &&
         a.trailer.sequence == b.trailer.sequence && a.trailer.time_ns == b.trailer.time_ns;
}

void check_kind(const TestFrame& frame) {
  const bool has_trailer = frame.kind != FrameKind::foreign && frame.kind != FrameKind::cut;
  require(frame.kind != FrameKind::ours || frame.is_credible);
  require(frame.kind != FrameKind::contradictory || !frame.is_credible);
  require(has_trailer || same(frame, {.kind = frame.kind}));
  if (!frame.is_credible) return;
  const Trailer& trailer = frame.trailer;
  require(trailer.stream < kPlan.streams && trailer.sequence < kPlan.frames && trailer.time_ns >= kPlan.begin_ns &&
          trailer.time_ns <= kPlan.end_ns);
}

bool is_plain_ipv4(const RawPacket& packet) {
  return packet.link_type == LinkType::ethernet && packet.captured_bytes > kTransport &&
         get16(packet.data + 12) == kEtherIpv4 && packet.data[kIp] == 0x45;
}

/// The same behind a VLAN tag, which takes the general decoder.
void check_tagged(const FrameReader& reader, const RawPacket& packet, const TestFrame& truth) {
  constexpr std::uint8_t kTag[] = {0x81, 0x00, 0x00, 0x07};
  std::vector<std::uint8_t> tagged(packet.data, packet.data + packet.captured_bytes);
  tagged.insert(tagged.begin() + 12, std::begin(kTag), std::end(kTag));
  require(same(reader.read(packet_of(tagged, LinkType::ethernet, packet.wire_bytes - packet.captured_bytes)), truth));
}

/// A bit that flips behind the IP header changes nothing that is said, or the frame is not taken for a good one.
void check_flipped(const FrameReader& reader, const RawPacket& packet, std::size_t bit, const TestFrame& truth) {
  const std::size_t end = kIp + get16(packet.data + kIp + 2);
  if (truth.kind != FrameKind::ours || end > packet.captured_bytes || end <= kTransport) return;
  const bool has_checksum = packet.data[kIp + 9] != 17 || get16(packet.data + kTransport + 6) != 0;
  if (!has_checksum) return;
  Block flipped({packet.data, packet.captured_bytes});
  const std::size_t at = kTransport + bit / 8 % (end - kTransport);
  flipped.data()[at] ^= static_cast<std::uint8_t>(1 << bit % 8);
  const TestFrame read = reader.read(packet_of(flipped.bytes(), packet.link_type, 0));
  require(read.kind != FrameKind::ours || same(read, truth));
}

}  // namespace

/// Input: the link type; bit 0: make its checksums right, the other bits: bytes that were not captured; which bit is to
/// flip (2); the frame.
void fuzz_test_frame(Bytes input) {
  constexpr LinkType kTypes[] = {LinkType::ethernet, LinkType::raw, LinkType::linux_sll, LinkType::linux_sll2};
  Input in(input);
  const LinkType link_type = kTypes[in.byte() % std::size(kTypes)];
  const std::uint8_t how = in.byte();
  const std::size_t bit = in.number(2);
  Block frame(in.rest());
  const RawPacket packet = packet_of(frame.bytes(), link_type, how >> 1);
  if ((how & 1) != 0) {
    for (const IpHeader header : {IpHeader::innermost, IpHeader::outermost}) {
      Datagram datagram;
      if (find_datagram({packet.data, packet.captured_bytes, packet.wire_bytes}, link_type, header, datagram) ==
          Verdict::counted)
        write_checksums(frame.data(), packet.captured_bytes, datagram);
    }
  }
  const FrameReader reader(kPlan);
  const TestFrame read = reader.read(packet);
  check_kind(read);
  if (!is_plain_ipv4(packet)) return;
  check_tagged(reader, packet, read);
  check_flipped(reader, packet, bit, read);
}

}  // namespace parshall::fuzz
