// SPDX-License-Identifier: Apache-2.0
#include "engine/turns.hpp"

namespace parshall {

Turns::Turns(std::size_t workers, std::size_t packets, bool with_tcp) : workers_(workers), turns_(kMostAhead) {
  for (Turn& turn : turns_) {
    turn.parts_ = std::vector<Part>(workers);
    for (Part& part : turn.parts_) {
      part.facts_ = HugeBuffer<PacketFacts>(packets, /*huge_pages=*/false);
      part.places_ = HugeBuffer<LinkPlace>(packets, /*huge_pages=*/false);
      if (with_tcp) part.tcp_ = HugeBuffer<TcpFacts>(packets, /*huge_pages=*/false);
    }
  }
}

std::uint64_t Turns::memory_bytes(std::size_t workers, std::size_t packets, bool with_tcp) noexcept {
  const std::size_t packet_bytes = sizeof(PacketFacts) + sizeof(LinkPlace) + (with_tcp ? sizeof(TcpFacts) : 0);
  return std::uint64_t{kMostAhead} * workers * packets * packet_bytes;
}

void Turns::close() noexcept {
  const std::lock_guard lock(mutex_);
  if (end_.load(std::memory_order_relaxed) == kNoEnd) end_.store(next_, std::memory_order_release);
}

const Turns::Part* Turns::take(Reader& reader) noexcept {
  const Published& place = place_of(reader.next);
  if (place.number_after.load(std::memory_order_acquire) != reader.next + 1) return nullptr;
  const Turn* const turn = place.turn;
  Part& part = place.turn->parts_[reader.worker];
  for (std::size_t i = 0; i < part.count_; ++i) {
    LinkPlace& packet = part.places_[i];
    packet = {reader.link.position + packet.position, std::max(reader.link.latest_ns, packet.latest_ns)};
  }
  reader.link = {reader.link.position + turn->counted_, std::max(reader.link.latest_ns, turn->latest_ns_)};
  return &part;
}

void Turns::release(Reader& reader) noexcept {
  Turn* const turn = place_of(reader.next++).turn;
  if (turn->readers_.fetch_sub(1, std::memory_order_acq_rel) == 1)
    free_.fetch_or(std::uint64_t{1} << (turn - turns_.data()), std::memory_order_release);
}

}  // namespace parshall
