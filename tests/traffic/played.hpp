// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>

#include "pipeline/decode/decode.hpp"
#include "pipeline/decode/ip.hpp"
#include "traffic/checksums.hpp"
#include "traffic/memory_source.hpp"

namespace parshall {

inline std::shared_ptr<const Trace> trace_of(const TrafficSpec& spec) {
  auto made = Trace::make(spec);
  EXPECT_TRUE(made) << made.error().message;
  return std::make_shared<const Trace>(*std::move(made));
}

inline std::shared_ptr<const Trace> trace_of(const std::string& text) {
  const auto spec = TrafficSpec::parse(text, TrafficSpec::kAll);
  EXPECT_TRUE(spec) << text << ": " << spec.error().message;
  return trace_of(*spec);
}

/// Calls `look(packet)` for so many packets.
template <class Look>
void play(PacketSource& source, std::size_t packets, Look look) {
  std::array<RawPacket, 100> batch;
  for (std::size_t count; packets != 0; packets -= count) {
    count = source.poll({batch.data(), std::min(batch.size(), packets)});
    for (const RawPacket& packet : std::span(batch).first(count)) look(packet);
  }
}

/// Of `rounds` repetitions of the trace.
template <class Look>
void play(const std::shared_ptr<const Trace>& trace, std::size_t rounds, Look look) {
  MemorySource source(trace, ~std::uint64_t{0});
  play(source, rounds * trace->packets(), look);
}

inline Datagram datagram_of(const RawPacket& packet) {
  Datagram datagram;
  const Frame frame(packet.data, packet.captured_bytes, packet.wire_bytes);
  EXPECT_EQ(find_datagram(frame, packet.link_type, IpHeader::outermost, datagram), Verdict::counted);
  return datagram;
}

inline FlowKey key_of(const RawPacket& packet) {
  PacketFacts facts;
  EXPECT_EQ(decode_any(packet, IpHeader::outermost, facts), Verdict::counted);
  return facts.key;
}

}  // namespace parshall
