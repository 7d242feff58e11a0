// SPDX-License-Identifier: Apache-2.0
#include "targets.hpp"
#include "traffic/checksums.hpp"
#include "traffic/frame.hpp"
#include "traffic/traffic.hpp"

namespace parshall::fuzz {
namespace {

constexpr std::uint64_t kMostFlows = 4096, kMostPackets = 4096, kLookedAt = 256;

void check_frame(const Trace& trace, std::uint64_t i) {
  const TrafficSpec& spec = trace.spec();
  const std::uint32_t bytes = trace.frame_bytes(i);
  // Of sessions, sizes are of frames with data.
  const std::uint32_t least = spec.protocol == ProtocolMix::sessions ? FrameSizes::kLeast : spec.sizes.least();
  require(bytes <= trace.longest_frame() && bytes + kFcsBytes >= least);
  const RawPacket packet{.data = trace.frame(i), .time_ns = 1, .captured_bytes = bytes, .wire_bytes = bytes};
  Datagram datagram;
  const Frame frame(packet.data, bytes, bytes);
  require(find_datagram(frame, LinkType::ethernet, IpHeader::outermost, datagram) == Verdict::counted);
  require(datagram.at == trace.link_bytes() && datagram.end <= bytes);
  require(datagram.protocol == 6 || datagram.protocol == 17);
  require(spec.protocol == ProtocolMix::mix || (datagram.protocol == 17) == (spec.protocol == ProtocolMix::udp));
  require(datagram.version == 4 || spec.ipv6_share > 0);
  require(datagram.version == 6 || spec.ipv6_share < 1);
  require(check_checksums(packet.data, bytes, datagram) == ChecksumState::good);
  require(std::equal(spec.destination_mac.begin(), spec.destination_mac.end(), packet.data));
}

}  // namespace

/// Input: built-in traffic, as -g spells it. Of little of it, the frames too.
void fuzz_traffic(Bytes input) {
  const std::string text(text_of(input));
  auto spec = TrafficSpec::parse(text, TrafficSpec::kAll);
  const auto plain = TrafficSpec::parse(text);
  require(spec || (!plain && !spec.error().message.empty()));
  if (!spec) return;
  require(!conflict_of(*spec));
  require(plain || spec->pace_pps != 0 || spec->flood_share != 0 || spec->train_packets != 0);
  require(spec->flows >= 1 && spec->sizes.least() >= FrameSizes::kLeast && spec->sizes.most() <= FrameSizes::kMost);
  require(spec->ipv6_share >= 0 && spec->ipv6_share <= 1 && spec->flood_share >= 0 && spec->flood_share <= 1);
  if (spec->flows > kMostFlows || spec->train_packets != 0) return;
  spec->packets = spec->packets == 0 ? kMostPackets : std::min(spec->packets, kMostPackets);
  const auto trace = Trace::make(*spec);
  if (!trace) return require(!trace.error().message.empty());
  const std::uint64_t step = std::max<std::uint64_t>(trace->packets() / kLookedAt, 1);
  for (std::uint64_t i = 0; i < trace->packets(); i += step) {
    require(trace->flow_of(i) < spec->flows);
    if (!trace->floods() || !trace->is_flood(i)) check_frame(*trace, i);
  }
}

}  // namespace parshall::fuzz
