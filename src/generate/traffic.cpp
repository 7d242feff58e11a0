// SPDX-License-Identifier: Apache-2.0
#include "generate/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <optional>

#include "base/random.hpp"
#include "generate/conversations.hpp"
#include "generate/flow_frames.hpp"
#include "generate/packet_order.hpp"

namespace parshall {
Result<Trace> Trace::make(const TrafficSpec& spec) {
  if (const auto problem = conflict_of(spec)) return *problem;
  Trace trace;
  trace.spec_ = spec;
  trace.packets_ = spec.packets != 0 ? spec.packets : std::max<std::uint64_t>(1 << 20, 4 * spec.flows);
  const std::uint32_t least_bytes = FlowFrames(spec).header_bytes({.ipv6 = spec.ipv6_share > 0, .tcp = true});
  trace.longest_frame_ = std::max(spec.sizes.most() - kFcsBytes, least_bytes);
  if (spec.train_packets != 0) return trace;
  std::size_t bytes = 0;
  try {
    trace.flow_of_ = order_packets(spec, trace.packets_);
    trace.flood_ = place_flood(spec, trace.packets_);
    bytes = trace.place_frames(least_bytes);
    trace.frames_ = HugeBuffer<std::uint8_t>(bytes);
    trace.write_frames();
  } catch (const std::bad_alloc&) {
    return Error{
        fmt::format("no memory for {} packets of built-in traffic ({} MB); ask for fewer with packets=N or flows=N",
                    trace.packets_, bytes >> 20)};
  }
  return trace;
}

std::size_t Trace::place_frames(std::uint32_t least_bytes) {
  if (spec_.sizes.alike()) {
    stride_ = (longest_frame_ + kLine - 1) / kLine * kLine;
    return packets_ * stride_;
  }
  std::uint64_t lines = 0;
  places_.reserve(packets_);
  for (const std::uint16_t size : spec_.sizes.deal(packets_, SplitMix64::mix(spec_.seed) + 1)) {
    const std::uint32_t bytes = std::max<std::uint32_t>(size - kFcsBytes, least_bytes);
    places_.push_back({.line = static_cast<std::uint32_t>(lines), .bytes = bytes});
    lines += (bytes + kLine - 1) / kLine;
  }
  if (lines > ~std::uint32_t{0}) throw std::bad_alloc();
  return lines * kLine;
}

void Trace::write_frames() {
  const FlowTuples tuples(spec_);
  const FlowFrames frames(spec_);
  std::optional<Conversations> conversations;
  if (spec_.connected()) conversations.emplace(spec_, flow_of_, flood_);
  for (std::uint64_t i = 0; i < packets_; ++i) {
    if (floods() && is_flood(i)) continue;
    const FlowTuple tuple = tuples(flow_of_[i]);
    const std::uint32_t room = frame_bytes(i) - frames.header_bytes(tuple);
    Segment segment{.payload_bytes = room};
    if (conversations) segment = conversations->segment(i, flow_of_[i], room);
    if (spec_.trailer) segment.stream = flow_of_[i];
    frames.write(frames_.data() + (frame(i) - frames_.data()), tuple, segment);
  }
}

}  // namespace parshall
