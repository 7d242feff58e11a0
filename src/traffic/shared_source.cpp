// SPDX-License-Identifier: Apache-2.0
#include "traffic/shared_source.hpp"

#include <algorithm>
#include <utility>

namespace parshall {
namespace {

/// Returns the time of that many packets, computed as in MemorySource.
std::uint64_t time_after(std::uint64_t packets, std::uint64_t step) noexcept {
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(packets) * step / Trace::kTimeUnit);
}

}  // namespace

std::vector<SharedSource::Packet> SharedSource::packets_of(const Trace& trace, std::size_t share) {
  std::vector<Packet> packets;
  packets.reserve(trace.share(share).size());
  for (const std::uint32_t at : trace.share(share)) packets.push_back({at, trace.frame_bytes(at)});
  return packets;
}

SharedSource::SharedSource(std::shared_ptr<const Trace> trace, std::size_t share, std::uint64_t limit,
                           std::uint64_t first_ns)
    : trace_(std::move(trace)),
      flood_(trace_),
      rounds_(trace_),
      packets_(packets_of(*trace_, share)),
      frames_(packets_.empty() ? nullptr : trace_->frame(packets_.front().at)),
      frame_(frames_),
      numbers_(TcpFrames::kMostPackets),
      end_(limit),
      step_(trace_->time_step()),
      first_ns_(first_ns) {}

std::size_t SharedSource::poll(std::span<RawPacket> out) noexcept {
  const std::size_t most = std::min(out.size(), numbers_.size());
  polled_ = 0;
  while (polled_ < most && next_number() < end_) {
    const std::size_t count = poll_round(out.subspan(polled_, most - polled_));
    polled_ += count;
  }
  if (polled_ != 0) reached_ = numbers_[polled_ - 1] + 1;
  flood_.put_into(out.first(polled_), numbers());
  rounds_.put_into(out.first(polled_), numbers());
  return polled_;
}

/// Polls packets of one round, of which some are left.
std::size_t SharedSource::poll_round(std::span<RawPacket> out) noexcept {
  // Local copies stay in registers: for the compiler, packets could alias this object.
  const std::uint64_t round_begin = round_begin_, first_ns = first_ns_, step = step_, places_end = end_ - round_begin;
  const Packet* const packets = &packets_[next_];
  const std::size_t most = std::min(out.size(), packets_.size() - next_);
  std::uint64_t* const numbers = &numbers_[polled_];
  const std::uint8_t* frame = frame_;
  std::size_t count = 0;
  for (; count < most && packets[count].at < places_end; ++count) {
    const Packet packet = packets[count];
    const std::uint64_t number = numbers[count] = round_begin + packet.at;
    out[count] = {.data = frame,
                  .time_ns = first_ns + time_after(number, step),
                  .captured_bytes = packet.frame_bytes,
                  .wire_bytes = packet.frame_bytes};
    frame += Trace::room_for(packet.frame_bytes);
  }
  next_ += count;
  frame_ = frame;
  if (next_ == packets_.size()) next_ = 0, frame_ = frames_, round_begin_ += trace_->packets();
  return count;
}

InputPart::Place SharedSource::passed() const noexcept {
  const std::uint64_t packets = exhausted() && end_ != ~std::uint64_t{0} ? end_ : reached_;
  return {packets, packets == 0 ? 0 : first_ns_ + time_after(packets - 1, step_)};
}

void SharedSource::end_before(std::uint64_t number) noexcept { end_ = std::min(end_, number); }

}  // namespace parshall
