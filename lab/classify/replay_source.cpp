// SPDX-License-Identifier: Apache-2.0
#include "lab/classify/replay_source.hpp"

#include <algorithm>
#include <cstring>

namespace parshall::lab {

ReplaySource::ReplaySource(std::shared_ptr<const ReplayTrace> trace, std::shared_ptr<const ReplaySchedule> schedule,
                           std::uint64_t interface, double gbps, std::size_t queue, std::uint64_t first_ns, Clock clock)
    : trace_(std::move(trace)),
      schedule_(std::move(schedule)),
      interface_(interface),
      bytes_per_ns_(gbps / 8),
      first_ns_(first_ns),
      clock_(std::move(clock)),
      queue_(queue),
      frames_(kFrames) {}

std::uint64_t ReplaySource::bytes_by(std::uint64_t elapsed_ns) const noexcept {
  return static_cast<std::uint64_t>(static_cast<double>(elapsed_ns) * bytes_per_ns_);
}

std::size_t ReplaySource::poll(std::span<RawPacket> out) noexcept {
  const std::uint64_t now_ns = clock_();
  if (!began_ns_) began_ns_ = now_ns;
  const std::uint64_t elapsed_ns = std::max(polled_ns_, now_ns > *began_ns_ ? now_ns - *began_ns_ : 0);
  const std::uint64_t missed =
      queue_.arrive(schedule_->packets_by(bytes_by(elapsed_ns), queue_.arrived()), polled_ns_, elapsed_ns);
  polled_ns_ = elapsed_ns;
  const std::size_t count = queue_.take(
      out.size(), [&](const ArrivalQueue::Run& run, std::size_t at) { play(run, out.subspan(at, run.count)); });
  counts_.add(count, missed);
  return count;
}

void ReplaySource::play(const ArrivalQueue::Run& run, std::span<RawPacket> out) noexcept {
  std::uint64_t loop = run.first / schedule_->packets();
  std::size_t at = run.first % schedule_->packets();
  for (RawPacket& raw : out) {
    if (at + kAhead < schedule_->packets()) {
      const std::size_t soon = schedule_->number(at + kAhead);
      prefetch_line(trace_->bytes(soon));
      prefetch_line(&trace_->packet(soon));
    }
    const std::size_t number = schedule_->number(at);
    const ReplayTrace::Packet& packet = trace_->packet(number);
    const double bytes = static_cast<double>(loop) * static_cast<double>(schedule_->loop_bytes()) +
                         static_cast<double>(schedule_->end_bytes(at));
    raw = {.data = write(number, mask_of(loop, interface_)),
           .time_ns = first_ns_ + static_cast<std::uint64_t>(bytes / bytes_per_ns_),
           .captured_bytes = packet.captured_bytes,
           .wire_bytes = packet.frame_bytes,
           .link_type = packet.link_type};
    if (++at == schedule_->packets()) at = 0, ++loop;
  }
}

const std::uint8_t* ReplaySource::write(std::size_t number, std::uint32_t mask) noexcept {
  const ReplayTrace::Packet& packet = trace_->packet(number);
  std::uint8_t* const frame = frames_[next_++ % kFrames].bytes;
  std::memcpy(frame, trace_->bytes(number), ReplayTrace::kKeptBytes);  // a constant size compiles to a few moves
  if (packet.addresses_at == 0) return frame;
  for (const std::size_t end : {0, 1}) {
    std::uint8_t* const address = frame + packet.addresses_at + end * packet.address_bytes;
    std::uint32_t word;
    std::memcpy(&word, address, sizeof word);
    word ^= mask;
    std::memcpy(address, &word, sizeof word);
  }
  return frame;
}

}  // namespace parshall::lab
