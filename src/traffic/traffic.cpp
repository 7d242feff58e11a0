// SPDX-License-Identifier: Apache-2.0
#include "traffic/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <optional>

#include "base/random.hpp"
#include "traffic/conversations.hpp"
#include "traffic/flow_frames.hpp"
#include "traffic/packet_order.hpp"
#include "traffic/sessions.hpp"

namespace parshall {
namespace {

/// Returns frame lengths by the spec, but long enough for headers.
std::vector<std::uint16_t> deal_frames(const TrafficSpec& spec, std::uint64_t packets, std::uint32_t least_bytes) {
  std::vector<std::uint16_t> bytes = spec.sizes.deal(packets, SplitMix64::mix(spec.seed) + 1);
  for (std::uint16_t& frame : bytes) frame = static_cast<std::uint16_t>(std::max(frame - kFcsBytes, least_bytes));
  return bytes;
}

}  // namespace

Result<Trace> Trace::make(const TrafficSpec& spec, std::size_t shares) {
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
    if (shares != 0) trace.deal_flows(shares);
    if (sessions)
      bytes = trace.place(sessions->frame_bytes(trace.flow_of_));
    else if (spec.sizes.alike() && shares == 0)
      bytes = trace.place_alike();
    else
      bytes = trace.place(deal_frames(spec, trace.packets_, least_bytes));
    trace.frames_ = HugeBuffer<std::uint8_t>(bytes);
    trace.write_frames(sessions ? &*sessions : nullptr);
  } catch (const std::bad_alloc&) {
    return Error{fmt::format(
        "not enough memory for {} packets of built-in traffic ({} MB); ask for fewer with packets=N or flows=N",
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
  if (shares_.empty() && std::ranges::min(frame_bytes) == longest_frame_) return place_alike();
  std::uint64_t lines = 0;
  places_.resize(packets_);
  const auto put = [&](std::uint64_t i) {
    places_[i] = {.line = static_cast<std::uint32_t>(lines), .bytes = frame_bytes[i]};
    lines += (frame_bytes[i] + kLine - 1) / kLine;
  };
  for (std::uint64_t i = 0; shares_.empty() && i < packets_; ++i) put(i);
  for (const auto& share : shares_) std::ranges::for_each(share, put);
  if (lines > ~std::uint32_t{0}) throw std::bad_alloc();
  return lines * kLine;
}

void Trace::deal_flows(std::size_t shares) {
  shares_.resize(shares);
  for (std::uint64_t i = 0; i < packets_; ++i) {
    const std::uint64_t flow = floods() && is_flood(i) ? i : flow_of(i) / 2;
    shares_[SplitMix64::mix(flow ^ spec_.seed) % shares].push_back(static_cast<std::uint32_t>(i));
  }
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
