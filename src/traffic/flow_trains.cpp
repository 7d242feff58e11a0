// SPDX-License-Identifier: Apache-2.0
#include "traffic/flow_trains.hpp"

#include "traffic/benchmark_addresses.hpp"

namespace parshall {
namespace {

/// Returns the endpoints of a train, by its number.
TcpFrames::Endpoints endpoints(std::uint64_t flow) noexcept {
  constexpr std::uint32_t kFirstSource = 10u << 24, kServer = 198u << 24 | 18u << 16 | 1;
  constexpr std::uint16_t kFirstPort = 1024, kServerPort = 80;
  return {.source = kFirstSource + static_cast<std::uint32_t>(flow),
          .destination = kServer,
          .source_port = static_cast<std::uint16_t>(kFirstPort + (flow >> 32)),
          .destination_port = kServerPort};
}

/// Returns endpoints that vary the source first, then its port, then destination and port likewise.
TcpFrames::Endpoints endpoints_for_benchmarks(std::uint64_t flow) noexcept {
  using To = BenchmarkAddresses;
  const std::uint64_t ports = flow / To::kHosts, destinations = ports / To::kPorts;
  return {.source = To::source(flow % To::kHosts),
          .destination = To::destination(destinations % To::kHosts),
          .source_port = To::port(ports % To::kPorts),
          .destination_port = To::port(destinations / To::kHosts)};
}

}  // namespace

FlowTrains::FlowTrains(std::shared_ptr<const Trace> trace) : trace_(std::move(trace)) {
  if (trace_->spec().train_packets == 0) return;
  const std::uint32_t bytes = trace_->longest_frame();
  frames_ = TcpFrames(trace_->spec(), bytes,
                      {.payload_bytes = bytes - FlowFrames(trace_->spec()).header_bytes({.tcp = true})});
}

void FlowTrains::put_into(std::span<RawPacket> packets, std::uint64_t number) noexcept {
  if (frames_.empty()) return;
  if (trace_->spec().addresses == AddressKind::benchmark)
    put_into(packets, number, [](std::uint64_t flow) { return endpoints_for_benchmarks(flow); });
  else
    put_into(packets, number, [](std::uint64_t flow) { return endpoints(flow); });
}

template <class EndpointsOf>
void FlowTrains::put_into(std::span<RawPacket> packets, std::uint64_t number, EndpointsOf endpoints_of) noexcept {
  const std::uint64_t together = trace_->spec().flows, block = together * trace_->spec().train_packets;
  std::uint64_t first_flow = number / block * together, at = number % block, of_block = at % together;
  frames_.put_into(packets, [&] {
    const std::uint64_t flow = first_flow + of_block;
    if (++of_block == together) of_block = 0;
    if (++at == block) at = 0, first_flow += together;
    return endpoints_of(flow);
  });
}

}  // namespace parshall
