// SPDX-License-Identifier: Apache-2.0
#include "generate/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "generate/conversations.hpp"
#include "generate/flow_frames.hpp"
#include "generate/packet_order.hpp"

namespace parshall {
namespace {

constexpr std::uint32_t kFcsBytes = 4;

}  // namespace

Result<Trace> Trace::make(const TrafficSpec& spec) {
  if (const auto problem = conflict_of(spec)) return *problem;
  Trace trace;
  trace.spec_ = spec;
  const std::uint32_t ipv6_minimum = 14 + 40 + 20;
  trace.captured_bytes_ = std::max(spec.frame_bytes - kFcsBytes, spec.ipv6_share > 0 ? ipv6_minimum : 0u);
  trace.stride_ = (trace.captured_bytes_ + 63) / 64 * 64;
  const std::uint64_t packets = spec.packets != 0 ? spec.packets : std::max<std::uint64_t>(1 << 20, 4 * spec.flows);
  trace.packets_ = packets;
  if (spec.train_packets != 0) {
    trace.stride_ = 0;
    return trace;
  }
  try {
    trace.flow_of_ = order_packets(spec, packets);
    trace.flood_ = place_flood(spec, packets);
    trace.frames_ = HugeBuffer<std::uint8_t>(packets * trace.stride_);
    trace.write_frames();
  } catch (const std::bad_alloc&) {
    return Error{
        fmt::format("no memory for {} packets of built-in traffic ({} MB); ask for fewer with packets=N or flows=N",
                    packets, packets * trace.stride_ >> 20)};
  }
  return trace;
}

void Trace::write_frames() {
  const FlowTuples tuples(spec_);
  const FlowFrames frames(spec_);
  std::optional<Conversations> conversations;
  if (spec_.connected()) conversations.emplace(spec_, flow_of_, flood_);
  for (std::uint64_t i = 0; i < packets_; ++i) {
    if (floods() && is_flood(i)) continue;
    const FlowTuple tuple = tuples(flow_of_[i]);
    const std::uint32_t room = captured_bytes_ - frames.header_bytes(tuple);
    frames.write(frames_.data() + i * stride_, tuple,
                 conversations ? conversations->segment(i, flow_of_[i], room) : Segment{.payload_bytes = room});
  }
}

}  // namespace parshall
