// SPDX-License-Identifier: Apache-2.0
#include "lab/profile/frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_set>

#include "pipeline/capture/pcap_file.hpp"
#include "pipeline/decode/decode.hpp"
#include "pipeline/flow/key_hash.hpp"
#include "traffic/memory_source.hpp"

namespace parshall::lab {
namespace {

constexpr std::size_t kLineBytes = 64, kMostAtOnce = 256;
constexpr std::size_t to_lines(std::size_t bytes) noexcept {
  return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
}

/// Returns the time from the first to the last packet, plus one mean gap.
std::uint64_t period_of(std::span<const RawPacket> packets) noexcept {
  const auto [first, last] = std::ranges::minmax(packets, {}, &RawPacket::time_ns);
  const std::uint64_t length = last.time_ns - first.time_ns;
  return length + length / packets.size() + 1;
}

/// Copies descriptors of packets in memory; each repetition is later by one period.
class RepeatingSource final : public PacketSource {
 public:
  RepeatingSource(std::span<const RawPacket> packets, std::size_t begin)
      : packets_(packets), period_ns_(period_of(packets)), at_(begin) {}

  std::size_t poll(std::span<RawPacket> out) noexcept override {
    const std::size_t count = std::min(out.size(), packets_.size() - at_);
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = packets_[at_ + i];
      out[i].time_ns += later_ns_;
    }
    if ((at_ += count) == packets_.size()) at_ = 0, later_ns_ += period_ns_;
    return count;
  }

 private:
  std::span<const RawPacket> packets_;
  std::uint64_t period_ns_, later_ns_ = 0;
  std::size_t at_;
};

}  // namespace

void Frames::add(const RawPacket& packet) {
  std::memcpy(&bytes_[used_], packet.data, packet.captured_bytes);
  RawPacket& kept = packets_.emplace_back(packet);
  kept.data = &bytes_[used_];
  used_ += to_lines(packet.captured_bytes);
}

Result<Frames> Frames::of_file(const std::string& path, std::size_t packets, std::size_t bytes) {
  auto sources = open_capture_file(path, 1);
  if (!sources) return sources.error();
  PacketSource& source = *sources->front();
  Frames frames;
  frames.bytes_ = HugeBuffer<std::uint8_t>(bytes);
  std::array<RawPacket, kMostAtOnce> batch;
  bool room = true;
  while (room && !source.exhausted()) {
    const std::size_t count = source.poll(batch);
    for (std::size_t i = 0; i < count && room; ++i) {
      room = frames.packets_.size() < packets && frames.used_ + to_lines(batch[i].captured_bytes) <= bytes;
      if (room) frames.add(batch[i]);
    }
  }
  if (frames.packets_.empty()) return Error{fmt::format("{}: it contains no packets", path)};
  if (const auto damage = source.damage()) frames.warning_ = damage->message;
  if (!room) frames.warning_ = fmt::format("{}: only its first {} packets are played", path, frames.packets_.size());
  return frames;
}

Result<Frames> Frames::of_spec(const TrafficSpec& spec) {
  auto trace = Trace::make(spec);
  if (!trace) return trace.error();
  Frames frames;
  frames.trace_ = std::make_shared<const Trace>(*std::move(trace));
  return frames;
}

std::unique_ptr<PacketSource> Frames::source(std::size_t begin) const {
  if (!trace_) return std::make_unique<RepeatingSource>(packets_, begin);
  auto source = std::make_unique<MemorySource>(trace_, ~std::uint64_t{0}, kTrafficStartNs);
  std::array<RawPacket, kMostAtOnce> batch;
  while (begin != 0) begin -= source->poll({batch.data(), std::min(kMostAtOnce, begin)});
  return source;
}

std::size_t Frames::distinct_flows() const {
  std::unordered_set<FlowKey, KeyHash> flows;
  PacketFacts facts;
  const auto source = this->source(0);
  std::array<RawPacket, kMostAtOnce> batch;
  for (std::size_t left = size(), count = 0; left != 0; left -= count) {
    count = source->poll({batch.data(), std::min(kMostAtOnce, left)});
    for (const RawPacket& packet : std::span(batch).first(count))
      if (decode_any(packet, IpHeader::outermost, facts) == Verdict::counted) flows.insert(facts.key);
  }
  return flows.size();
}

}  // namespace parshall::lab
