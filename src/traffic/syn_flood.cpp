// SPDX-License-Identifier: Apache-2.0
#include "traffic/syn_flood.hpp"

#include <algorithm>

#include "base/random.hpp"
#include "traffic/benchmark_addresses.hpp"

namespace parshall {

SynFlood::SynFlood(std::shared_ptr<const Trace> trace)
    : trace_(std::move(trace)), seed_(SplitMix64::mix(trace_->spec().seed)) {
  if (!trace_->floods()) return;
  const std::uint32_t bytes = std::max(kBytes, FlowFrames(trace_->spec()).header_bytes({.tcp = true}));
  frames_ = TcpFrames(trace_->spec(), bytes, {.window = 0xFFFF, .flags = 0x02});
}

void SynFlood::put_into(std::span<RawPacket> packets, std::uint64_t number) noexcept {
  if (frames_.empty()) return;
  for (RawPacket& packet : packets) put_into(packet, number++);
}

void SynFlood::put_into(std::span<RawPacket> packets, std::span<const std::uint64_t> numbers) noexcept {
  if (frames_.empty()) return;
  for (std::size_t i = 0; i < packets.size(); ++i) put_into(packets[i], numbers[i]);
}

void SynFlood::put_into(RawPacket& packet, std::uint64_t number) noexcept {
  if (trace_->is_flood(number % trace_->packets())) frames_.put_into(packet, endpoints(number));
}

TcpFrames::Endpoints SynFlood::endpoints(std::uint64_t number) const noexcept {
  if (trace_->spec().addresses == AddressKind::benchmark) {
    using To = BenchmarkAddresses;
    constexpr std::uint64_t kSources = To::kHosts * To::kPorts * To::kPorts;
    const std::uint64_t source = scramble_below<48, kSources>((number + seed_ % kSources) % kSources);
    return {.source = To::source(source % To::kHosts),
            .destination = To::destination(0),
            .source_port = To::port(source / To::kHosts % To::kPorts),
            .destination_port = To::port(source / To::kHosts / To::kPorts)};
  }
  constexpr std::uint32_t kVictim = 198u << 24 | 18u << 16 | 1;
  const std::uint64_t bits = __builtin_bswap64(SplitMix64::mix(number ^ seed_));
  return {.source = static_cast<std::uint32_t>(bits >> 32),
          .destination = kVictim,
          .source_port = static_cast<std::uint16_t>(bits >> 16),
          .destination_port = static_cast<std::uint16_t>(bits)};
}

}  // namespace parshall
