// SPDX-License-Identifier: Apache-2.0
#include "generate/flow_trains.hpp"

#include <cstring>

#include "generate/frame.hpp"

namespace parshall {
namespace {

constexpr std::uint32_t kFirstSource = 10u << 24, kFirstPort = 1024;
constexpr std::uint8_t kServer[4] = {198, 18, 0, 1};

}  // namespace

FlowTrains::FlowTrains(std::shared_ptr<const Trace> trace)
    : trace_(std::move(trace)), lines_((trace_->captured_bytes() + sizeof(Line) - 1) / sizeof(Line)) {
  if (trace_->train_packets() == 0) return;
  frames_.resize(kFrames * lines_);
  for (std::size_t i = 0; i < kFrames; ++i) {
    write_ethernet(frame(i), kEtherIpv4);
    std::uint8_t* const ip = frame(i) + kEthernetBytes;
    ip[0] = 0x45;
    put16(ip + 2, trace_->captured_bytes() - kEthernetBytes);
    ip[8] = 64;
    ip[9] = 6;
    std::memcpy(ip + 16, kServer, sizeof kServer);
    put16(ip + 20 + 2, 80);
    ip[20 + 12] = 5 << 4;
    ip[20 + 13] = 0x10;  // ACK
  }
  sum_ = static_cast<std::uint16_t>(~header_checksum(frame(0) + kEthernetBytes));
}

void FlowTrains::put_into(std::span<RawPacket> packets, std::uint64_t number) noexcept {
  if (frames_.empty()) return;
  const std::uint64_t together = trace_->flows_together(), block = together * trace_->train_packets();
  std::uint64_t first_flow = number / block * together, at = number % block, of_block = at % together;
  for (RawPacket& packet : packets) {
    const std::uint64_t flow = first_flow + of_block;
    std::uint8_t* const data = frame(next_++ % kFrames);
    std::uint8_t* const ip = data + kEthernetBytes;
    const auto source = kFirstSource + static_cast<std::uint32_t>(flow);
    const std::uint32_t bytes = __builtin_bswap32(source);
    std::memcpy(ip + 12, &bytes, sizeof bytes);
    put16(ip + 20, kFirstPort + static_cast<std::uint32_t>(flow >> 32));
    std::uint32_t sum = sum_ + (source >> 16) + (source & 0xFFFF);
    sum = (sum & 0xFFFF) + (sum >> 16);
    put16(ip + 10, ~(sum + (sum >> 16)));
    packet.data = data;
    packet.captured_bytes = packet.wire_bytes = trace_->captured_bytes();
    if (++of_block == together) of_block = 0;
    if (++at == block) at = 0, first_flow += together;
  }
}

}  // namespace parshall
