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
#include "generate/sessions.hpp"

namespace parshall {
namespace {

/// As the spec has them, and long enough for headers.
std::vector<std::uint16_t> deal_frames(const TrafficSpec& spec, std::uint64_t packets, std::uint32_t least_bytes) {
  std::vector<std::uint16_t> bytes = spec.sizes.deal(packets, SplitMix64::mix(spec.seed) + 1);
  for (std::uint16_t& frame : bytes) frame = static_cast<std::uint16_t>(std::max(frame - kFcsBytes, least_bytes));
  return bytes;
}

}  // namespace

Result<Trace> Trace::make(const TrafficSpec& spec) {
  if (const auto problem = conflict_of(spec)) return *problem;
  Trace trace;
  trace.spec_ = spec;
  trace.packets_ = spec.packets != 0 ? spec.packets : std::max<std::uint64_t>(1 << 20, 4 * spec.flows);
  trace.link_bytes_ = FlowFrames(spec).link_bytes();
  const std::uint32_t least_bytes = FlowFrames(spec).header_bytes({.ipv6 = spec.ipv6_share > 0, .tcp = true});
  trace.longest_frame_ = std::max(spec.sizes.most() - kFcsBytes, least_bytes);
  if (spec.train_packets != 0) return trace;
  std::size_t bytes = 0;
  try {
    trace.flow_of_ = order_packets(spec, trace.packets_);
    trace.flood_ = place_flood(spec, trace.packets_);
    std::optional<Sessions> sessions;
    if (spec.protocol == ProtocolMix::sessions) sessions.emplace(spec, trace.flow_of_, trace.flood_);
    bytes = sessions             ? trace.place(sessions->frame_bytes(trace.flow_of_))
            : spec.sizes.alike() ? trace.place_alike()
                                 : trace.place(deal_frames(spec, trace.packets_, least_bytes));
    trace.frames_ = HugeBuffer<std::uint8_t>(bytes);
    trace.write_frames(sessions ? &*sessions : nullptr);
  } catch (const std::bad_alloc&) {
    return Error{
        fmt::format("no memory for {} packets of built-in traffic ({} MB); ask for fewer with packets=N or flows=N",
                    trace.packets_, bytes >> 20)};
  }
  return trace;
}

std::size_t Trace::place_alike() {
  stride_ = (longest_frame_ + kLine - 1) / kLine * kLine;
  return packets_ * stride_;
}

std::size_t Trace::place(std::span<const std::uint16_t> frame_bytes) {
  longest_frame_ = std::ranges::max(frame_bytes);
  if (std::ranges::min(frame_bytes) == longest_frame_) return place_alike();
  std::uint64_t lines = 0;
  places_.reserve(packets_);
  for (const std::uint16_t bytes : frame_bytes) {
    places_.push_back({.line = static_cast<std::uint32_t>(lines), .bytes = bytes});
    lines += (bytes + kLine - 1) / kLine;
  }
  if (lines > ~std::uint32_t{0}) throw std::bad_alloc();
  return lines * kLine;
}

void Trace::write_frames(Sessions* sessions) {
  const FlowTuples tuples(spec_);
  const FlowFrames frames(spec_);
  std::optional<Conversations> conversations;
  if (spec_.protocol == ProtocolMix::connections) conversations.emplace(spec_, flow_of_, flood_);
  for (std::uint64_t i = 0; i < packets_; ++i) {
    if (floods() && is_flood(i)) continue;
    const FlowTuple tuple = tuples(flow_of_[i]);
    const std::uint32_t room = frame_bytes(i) - frames.header_bytes(tuple);
    Segment segment{.payload_bytes = room};
    if (conversations) segment = conversations->segment(flow_of_[i], room);
    if (sessions != nullptr) segment = sessions->segment(i, flow_of_[i], room);
    if (spec_.trailer) segment.stream = flow_of_[i];
    frames.write(frames_.data() + (frame(i) - frames_.data()), tuple, segment);
  }
  if (conversations) advances_ = conversations->advances();
  if (sessions != nullptr) advances_ = sessions->advances();
}

}  // namespace parshall
