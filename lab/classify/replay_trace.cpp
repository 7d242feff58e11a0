// SPDX-License-Identifier: Apache-2.0
#include "lab/classify/replay_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_set>

#include "pipeline/capture/pcap_file.hpp"
#include "pipeline/decode/decode.hpp"
#include "pipeline/flow/key_hash.hpp"
#include "traffic/frame.hpp"

namespace parshall::lab {
namespace {

constexpr std::size_t kReplayBatch = 256;

struct Addresses {
  std::uint8_t at = 0, bytes = 0;
};

/// Finds the IP addresses in an Ethernet frame with at most two tags.
Addresses addresses_of(const RawPacket& packet) noexcept {
  if (packet.link_type != LinkType::ethernet) return {};
  constexpr std::uint32_t kTag = 0x8100, kServiceTag = 0x88A8, kTagBytes = 4;
  std::uint32_t at = kEthernetBytes;
  const auto type = [&] { return static_cast<std::uint32_t>(packet.data[at - 2] << 8 | packet.data[at - 1]); };
  while (at <= packet.captured_bytes && at <= kEthernetBytes + 2 * kTagBytes) {
    const bool ipv4 = type() == kEtherIpv4;
    const std::uint32_t addresses = at + (ipv4 ? 12u : 8u), bytes = ipv4 ? 4 : 16;
    if (ipv4 || type() == kEtherIpv6) {
      if (addresses + 2 * bytes > std::min(packet.captured_bytes, ReplayTrace::kKeptBytes)) return {};
      return {static_cast<std::uint8_t>(addresses), static_cast<std::uint8_t>(bytes)};
    }
    if (type() != kTag && type() != kServiceTag) return {};
    at += kTagBytes;
  }
  return {};
}

}  // namespace

Result<ReplayTrace> ReplayTrace::of_file(const std::string& path, std::size_t most_packets) {
  auto sources = open_capture_file(path, 1);
  if (!sources) return sources.error();
  PacketSource& source = *sources->front();
  ReplayTrace trace;
  trace.bytes_ = HugeBuffer<std::uint8_t>(most_packets * kStride);
  std::unordered_set<FlowKey, KeyHash> flows;
  std::array<RawPacket, kReplayBatch> batch;
  PacketFacts facts;
  bool more = false;
  while (!more && !source.exhausted()) {
    const std::size_t count = source.poll(batch);
    more = count > most_packets - trace.size();
    for (const RawPacket& packet : std::span(batch).first(std::min(count, most_packets - trace.size()))) {
      RawPacket kept = packet;  // decode only the bytes that will be played
      kept.captured_bytes = std::min(kept.captured_bytes, kKeptBytes);
      const bool of_flow = decode_any(kept, IpHeader::outermost, facts) == Verdict::counted;
      if (of_flow) flows.insert(facts.key);
      trace.add(kept, of_flow ? KeyHash()(facts.key) | 1 : 0);
    }
  }
  if (trace.packets_.empty()) return Error{fmt::format("{}: it contains no packets", path)};
  trace.flows_ = flows.size();
  if (const auto damage = source.damage()) trace.warning_ = damage->message;
  if (more) trace.warning_ = fmt::format("{}: only its first {} packets are played", path, trace.size());
  return trace;
}

void ReplayTrace::add(const RawPacket& packet, std::uint64_t queue_hash) {
  std::memcpy(bytes_.data() + size() * kStride, packet.data, packet.captured_bytes);
  const Addresses addresses = addresses_of(packet);
  packets_.push_back({.queue_hash = queue_hash,
                      .frame_bytes = packet.wire_bytes,
                      .captured_bytes = static_cast<std::uint8_t>(packet.captured_bytes),
                      .addresses_at = addresses.at,
                      .address_bytes = addresses.bytes,
                      .link_type = packet.link_type});
  frame_bytes_ += packet.wire_bytes;
  if (queue_hash == 0) return;
  ++flow_packets_;
  fixed_packets_ += addresses.at == 0;
}

double ReplayTrace::mean_frame_bytes() const noexcept {
  return static_cast<double>(frame_bytes_) / static_cast<double>(size());
}

ReplaySchedule::ReplaySchedule(const ReplayTrace& trace, std::uint32_t cap, std::size_t queue, std::size_t queues) {
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const ReplayTrace::Packet& packet = trace.packet(i);
    loop_bytes_ += line_bytes(cap == 0 ? packet.frame_bytes : std::min(packet.frame_bytes, cap));
    if ((packet.queue_hash >> 1) % queues != queue) continue;
    numbers_.push_back(static_cast<std::uint32_t>(i));
    ends_.push_back(loop_bytes_);
  }
}

std::uint64_t ReplaySchedule::packets_by(std::uint64_t bytes, std::uint64_t least) const noexcept {
  if (ends_.empty()) return 0;
  const std::uint64_t loop = bytes / loop_bytes_, rest = bytes % loop_bytes_, before = loop * packets();
  // Few packets came since the last call: search from there in doubling steps.
  std::size_t low = least > before ? std::min<std::size_t>(least - before, packets()) : 0, step = 1;
  while (low + step <= packets() && ends_[low + step - 1] <= rest) low += step, step *= 2;
  const auto end = ends_.begin() + static_cast<std::ptrdiff_t>(std::min(low + step, packets()));
  return before + static_cast<std::uint64_t>(
                      std::upper_bound(ends_.begin() + static_cast<std::ptrdiff_t>(low), end, rest) - ends_.begin());
}

}  // namespace parshall::lab
