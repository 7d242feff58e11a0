// SPDX-License-Identifier: Apache-2.0
#include "tester/receiver.hpp"

#include <algorithm>
#include <array>

namespace parshall::tester {

void Receiver::take(std::span<const RawPacket> packets) noexcept {
  constexpr std::size_t kBatch = 64;
  std::array<Arrival, kBatch> arrivals;
  while (!packets.empty()) {
    const auto batch = packets.first(std::min(packets.size(), kBatch));
    std::size_t count = 0;
    for (const RawPacket& packet : batch) {
      const TestFrame frame = reader_.read(packet);
      if (frame.kind != FrameKind::ours) [[unlikely]] {
        take_other(frame);
        if (has_trailer(frame.kind)) last_other_ns_ = std::max(last_other_ns_, packet.time_ns);
        continue;
      }
      arrivals[count++] = {.stream = frame.trailer.stream,
                           .sequence = frame.trailer.sequence,
                           .sent_ns = frame.trailer.time_ns,
                           .received_ns = packet.time_ns,
                           .wire_bytes = packet.wire_bytes};
    }
    frames_.ours += count;
    if (count != 0) {
      first_ns_ = std::min(first_ns_, arrivals[0].received_ns);
      last_ns_ = std::max(last_ns_, arrivals[count - 1].received_ns);
    }
    book_.add(std::span(arrivals).first(count));
    packets = packets.subspan(batch.size());
  }
}

void Receiver::take_other(const TestFrame& frame) noexcept {
  switch (frame.kind) {
    case FrameKind::corrupted:
      ++frames_.corrupted;
      if (frame.is_credible)
        book_.add_corrupted(frame.trailer.stream);
      else
        ++frames_.corrupted_of_no_flow;
      return;
    case FrameKind::contradictory:
      ++frames_.contradictory;
      return;
    case FrameKind::cut:
      ++frames_.cut;
      return;
    case FrameKind::ours:
    case FrameKind::foreign:
      ++frames_.foreign;
  }
}

}  // namespace parshall::tester
