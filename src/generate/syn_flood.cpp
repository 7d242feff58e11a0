// SPDX-License-Identifier: Apache-2.0
#include "generate/syn_flood.hpp"

#include <cstring>

#include "base/random.hpp"
#include "generate/frame.hpp"

namespace parshall {

SynFlood::SynFlood(std::shared_ptr<const Trace> trace) : trace_(std::move(trace)) {
  if (!trace_->floods()) return;
  static constexpr std::uint8_t kVictim[4] = {198, 18, 0, 1};
  Frame frame{};
  write_ethernet(frame.data(), kEtherIpv4);
  std::uint8_t* const ip = frame.data() + kEthernetBytes;
  ip[0] = 0x45;
  put16(ip + 2, 40);
  ip[8] = 64;
  ip[9] = 6;
  std::memcpy(ip + 16, kVictim, sizeof kVictim);
  std::uint8_t* const tcp = ip + 20;
  tcp[12] = 5 << 4;
  tcp[13] = 0x02;
  put16(tcp + 14, 0xFFFF);  // window
  frames_.assign(kFrames, frame);
}

void SynFlood::put_into(std::span<RawPacket> packets, std::uint64_t number) noexcept {
  if (frames_.empty()) return;
  for (RawPacket& packet : packets) {
    if (trace_->is_flood(number % trace_->packets())) {
      packet.data = write(number);
      packet.captured_bytes = packet.wire_bytes = kBytes;
    }
    ++number;
  }
}

const std::uint8_t* SynFlood::write(std::uint64_t number) noexcept {
  std::uint8_t* const frame = frames_[next_++ % kFrames].data();
  std::uint8_t* const ip = frame + kEthernetBytes;
  const std::uint64_t bits = SplitMix64::mix(number ^ trace_->flood_seed());
  std::memcpy(ip + 12, &bits, 4);
  std::memcpy(ip + 20, reinterpret_cast<const char*>(&bits) + 4, 4);
  put16(ip + 10, 0);
  put16(ip + 10, header_checksum(ip));
  return frame;
}

}  // namespace parshall
