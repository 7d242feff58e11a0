// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <vector>

#include "pipeline/capture/bpf_filter.hpp"
#include "targets.hpp"
#include "traffic/frame.hpp"

namespace parshall::fuzz {
namespace {

RawPacket packet_of(Bytes frame, LinkType link_type) {
  return {.data = frame.data(),
          .time_ns = 1,
          .captured_bytes = static_cast<std::uint32_t>(frame.size()),
          .wire_bytes = static_cast<std::uint32_t>(frame.size()),
          .link_type = link_type};
}

/// A packet of a flow that `head` names, whose other fields, and its length, are by `other`.
std::vector<std::uint8_t> packet_of_flow(Bytes head, bool ipv6, std::uint8_t other) {
  const std::size_t ip_bytes = ipv6 ? 40 : 20, payload_bytes = 20 + other;
  std::vector<std::uint8_t> packet(ip_bytes + payload_bytes, other);
  std::uint8_t* const ip = packet.data();
  const auto flow = [&](std::size_t i) { return i < head.size() ? head[i] : std::uint8_t{0}; };
  constexpr std::uint8_t kProtocols[] = {6, 17, 132};
  const std::uint8_t protocol = kProtocols[flow(0) % 3];
  ip[0] = ipv6 ? static_cast<std::uint8_t>(0x60 | other >> 4) : 0x45;
  if (ipv6) {
    put16(ip + 4, static_cast<std::uint32_t>(payload_bytes));
    ip[6] = protocol;
    for (std::size_t i = 0; i < 32; ++i) ip[8 + i] = flow(5 + i);
  } else {
    put16(ip + 2, static_cast<std::uint32_t>(packet.size()));
    put16(ip + 6, 0x4000);  // no fragment
    ip[9] = protocol;
    for (std::size_t i = 0; i < 8; ++i) ip[12 + i] = flow(5 + i);
  }
  for (std::size_t i = 0; i < 4; ++i) ip[ip_bytes + i] = flow(1 + i);  // ports
  if (protocol == 6) ip[ip_bytes + 12] = 0x50;
  return packet;
}

}  // namespace

/// Input: a filter in libpcap's language, 0, the link type, a frame.
void fuzz_filter(Bytes input) {
  Input in(input);
  const std::string expression = in.text_until('\0');
  constexpr std::size_t kLongest = 200;  // what libpcap takes for its optimizer is its own
  if (expression.size() > kLongest) return;
  require(!BpfFilter::problem());
  auto filter = BpfFilter::compile(expression);
  if (!filter) return require(!filter.error().message.empty());
  constexpr LinkType kTypes[] = {LinkType::ethernet,   LinkType::raw,  LinkType::ipv4, LinkType::linux_sll,
                                 LinkType::linux_sll2, LinkType::null, LinkType::ppp,  LinkType::ieee802_11_radiotap};
  const LinkType link_type = kTypes[in.byte() % std::size(kTypes)];
  const Block frame(in.rest());
  const RawPacket packet = packet_of(frame.bytes(), link_type);
  const bool matches = filter->matches(packet);
  require(filter->matches(packet) == matches);
  require(!matches || filter->applies_to(link_type));

  // No packet is of a filter and of its opposite.
  if (auto opposite = BpfFilter::compile("not (" + expression + ")")) require(!matches || !opposite->matches(packet));

  if (!filter->says_the_same_of_a_flow()) return;
  for (const bool ipv6 : {false, true}) {
    const auto first = packet_of_flow(frame.bytes(), ipv6, 0), second = packet_of_flow(frame.bytes(), ipv6, 0x7d);
    require(filter->matches(packet_of(first, LinkType::raw)) == filter->matches(packet_of(second, LinkType::raw)));
  }
}

}  // namespace parshall::fuzz
