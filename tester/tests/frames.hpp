// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "pipeline/decode/ip.hpp"
#include "tests/decode/frames.hpp"
#include "traffic/checksums.hpp"
#include "traffic/trailer.hpp"

namespace parshall::tester {

using testing::Bytes;

/// A payload that ends with this trailer.
inline Bytes payload_with(const Trailer& trailer, std::size_t bytes) {
  Bytes payload(bytes);
  for (std::size_t i = 0; i < bytes; ++i) payload[i] = static_cast<std::uint8_t>(i * 37 + 11);
  trailer.write(payload.data() + bytes - Trailer::kBytes);
  return payload;
}

inline RawPacket packet_of(const Bytes& frame, LinkType link_type, std::uint64_t time_ns) {
  return {.data = frame.data(),
          .time_ns = time_ns,
          .captured_bytes = static_cast<std::uint32_t>(frame.size()),
          .wire_bytes = static_cast<std::uint32_t>(frame.size()),
          .link_type = link_type};
}

/// Makes the checksums of the datagram right that `header` chooses.
inline Bytes with_checksums(Bytes frame, LinkType link_type = LinkType::ethernet,
                            IpHeader header = IpHeader::outermost) {
  Datagram datagram;
  const Frame view(frame.data(), frame.size(), frame.size());
  if (find_datagram(view, link_type, header, datagram) == Verdict::counted)
    write_checksums(frame.data(), frame.size(), datagram);
  return frame;
}

}  // namespace parshall::tester
