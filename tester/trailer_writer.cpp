// SPDX-License-Identifier: Apache-2.0
#include "tester/trailer_writer.hpp"

#include <netinet/in.h>

#include <algorithm>

#include "base/prefetch.hpp"
#include "traffic/checksums.hpp"
#include "traffic/frame.hpp"
#include "traffic/trailer.hpp"

namespace parshall::tester {
namespace {

constexpr std::uint32_t kTag = 0x8100, kServiceTag = 0x88A8;

/// Positions of changed fields in a built-in frame.
struct Places {
  std::size_t trailer, transport, checksum;
};

Places places_in(const std::uint8_t* frame) noexcept {
  std::size_t at = 12;
  while (get16(frame + at) == kTag || get16(frame + at) == kServiceTag) at += 4;
  const bool ipv6 = get16(frame + at) == kEtherIpv6;
  const std::size_t ip = at + 2;
  const std::size_t transport = ip + (ipv6 ? 40 : 20);
  const std::size_t end = ipv6 ? transport + get16(frame + ip + 4) : ip + get16(frame + ip + 2);
  const std::uint8_t protocol = frame[ip + (ipv6 ? 6 : 9)];
  return {end - Trailer::kBytes, transport, transport + (protocol == IPPROTO_TCP ? 16 : 6)};
}

std::uint32_t stream_of(const std::uint8_t* trailer) noexcept { return get32(trailer + 8); }

/// Returns the sum of a trailer's words as it counts in a checksum, from an even or an odd position.
std::uint32_t placed(std::uint16_t sum, bool odd) noexcept {
  return odd ? static_cast<std::uint16_t>(sum << 8 | sum >> 8) : sum;
}

}  // namespace

void TrailerWriter::lengths(std::span<const RawPacket> packets, std::span<OutFrame> frames) noexcept {
  for (std::size_t i = 0; i < packets.size(); ++i) frames[i].bytes = packets[i].captured_bytes;
}

void TrailerWriter::write(std::span<const RawPacket> packets, std::span<const OutFrame> frames,
                          std::span<const std::uint64_t> due_ns) noexcept {
  constexpr std::size_t kAhead = 16;
  const auto ask_for = [&](std::size_t i) noexcept {
    const std::uint8_t* const packet = packets[i].data;
    prefetch_line(packet + FrameCopier::kAhead);
    prefetch_line(&(*sent_)[stream_of(packet + places_in(packet).trailer)].frames);
  };
  for (std::size_t i = 0; i < std::min(kAhead, packets.size()); ++i) ask_for(i);
  for (std::size_t i = 0; i < packets.size(); ++i) {
    if (i + kAhead < packets.size()) ask_for(i + kAhead);
    // Freshly written data is not read again, since the CPU would wait until it is in the cache.
    const std::uint8_t* const packet = packets[i].data;
    std::uint8_t* const frame = frames[i].data;
    FrameCopier::copy(frame, packet, frames[i].bytes);
    const Places at = places_in(packet);
    const std::uint32_t stream = stream_of(packet + at.trailer);
    SentFlow& flow = (*sent_)[stream];
    flow.wire_bytes += frames[i].bytes;
    const Trailer trailer{.stream = stream ^ id_,
                          .sequence = static_cast<std::uint32_t>(flow.frames++),
                          .time_ns = due_ns.empty() ? frames[i].time_ns : due_ns[i]};
    trailer.write(frame + at.trailer);
    // HC' = ~(~HC + ~m + m'): RFC 1624, equation 3. In UDP, 0 would mean no checksum.
    const bool odd = ((at.trailer - at.transport) & 1) != 0;
    const std::uint32_t before = placed(fold_sum(internet_sum(packet + at.trailer, Trailer::kBytes)), odd);
    const std::uint32_t without = (~get16(packet + at.checksum) & 0xFFFF) + (~before & 0xFFFF);
    const auto checksum = static_cast<std::uint16_t>(~fold_sum(without + placed(fold_sum(trailer.sum()), odd)));
    put16(frame + at.checksum, checksum == 0 ? 0xFFFF : checksum);
  }
}

void TrailerWriter::take_back(std::span<const RawPacket> packets) noexcept {
  for (const RawPacket& packet : packets) {
    SentFlow& flow = (*sent_)[stream_of(packet.data + places_in(packet.data).trailer)];
    --flow.frames;
    flow.wire_bytes -= packet.captured_bytes;
  }
}

}  // namespace parshall::tester
