// SPDX-License-Identifier: Apache-2.0
#include "frames.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "truth.hpp"

namespace parshall::testing {

Decoded decode_cut(LinkType link_type, const Bytes& frame, std::size_t captured_bytes, IpHeader header) {
  // A block of its own, so that the address sanitizer sees any reading beyond.
  const auto block = std::make_unique<std::uint8_t[]>(captured_bytes);
  std::copy_n(frame.begin(), captured_bytes, block.get());
  Decoded decoded;
  decoded.verdict = decode_any({.data = block.get(),
                                .time_ns = 7,
                                .captured_bytes = static_cast<std::uint32_t>(captured_bytes),
                                .wire_bytes = static_cast<std::uint32_t>(frame.size()),
                                .link_type = link_type},
                               header, decoded.facts);
  return decoded;
}

Decoded decode(LinkType link_type, const Bytes& frame, IpHeader header) {
  return decode_cut(link_type, frame, frame.size(), header);
}

std::string show(const Decoded& decoded) {
  if (decoded.verdict != Verdict::counted) return std::string(name_of(counter_of(decoded.verdict)));
  const FlowText flow = text_of(decoded.facts.key);
  return std::to_string(flow.protocol) + " " + flow.src + ":" + std::to_string(flow.src_port) + " > " + flow.dst + ":" +
         std::to_string(flow.dst_port);
}

}  // namespace parshall::testing
