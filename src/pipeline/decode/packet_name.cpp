// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/packet_name.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "pipeline/decode/fast_path.hpp"
#include "pipeline/decode/ip.hpp"

namespace parshall {

std::uint64_t PacketNames::of(const RawPacket& packet, IpHeader header) const noexcept {
  const Frame frame(packet.data, packet.captured_bytes, packet.wire_bytes);
  Datagram datagram;
  if (find_datagram(frame, packet.link_type, header, datagram) != Verdict::counted) return 0;
  std::array<std::uint8_t, kRead> transport{};
  const auto captured = frame.until(datagram.end).from(datagram.payload_at);
  std::copy_n(captured.begin(), std::min(kRead, captured.size()), transport.begin());
  std::uint16_t identification = 0;
  if (datagram.version == 4) std::memcpy(&identification, frame.at(datagram.at + 4), sizeof identification);
  const std::uint8_t protocol = datagram.later_fragment ? std::uint8_t{0} : datagram.protocol;
  if (protocol == FastHeader::kTcp || protocol == FastHeader::kUdp)
    return of_contents(protocol, identification, transport.data());
  return hash_.portable(load_unaligned<std::uint64_t>(transport.data()),
                        std::uint64_t{identification} << 48 | std::uint64_t{protocol} << 40 |
                            load_unaligned<std::uint32_t>(transport.data() + 8));
}

}  // namespace parshall
