// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "pipeline/capture/packet.hpp"
#include "traffic/flow_frames.hpp"
#include "traffic/frame.hpp"

namespace parshall {

/// TCP segments over IPv4 that differ only in their endpoints, made as they are played. Their checksums start from the
/// sum of the common part.
///
/// Shape: a ring of frames, each on cache lines of its own. They stay valid as long as a source's packets.
class TcpFrames {
 public:
  static constexpr std::size_t kMostPackets = 4096;  ///< limit between two calls of a source's poll()

  struct Endpoints {
    std::uint32_t source = 0, destination = 0;
    std::uint16_t source_port = 0, destination_port = 0;
  };

  TcpFrames() = default;
  TcpFrames(const TrafficSpec& spec, std::uint32_t bytes, const Segment& segment)
      : bytes_(bytes), lines_((bytes + sizeof(Line) - 1) / sizeof(Line)), ring_(kFrames * lines_) {
    const FlowFrames frames(spec);
    for (std::size_t line = 0; line < ring_.size(); line += lines_)
      frames.write(ring_[line].bytes, {.tcp = true}, segment);
    shared_.ip_at = frames.link_bytes();
    const std::uint8_t* const ip = ring_[0].bytes + shared_.ip_at;
    shared_.ip_sum = ~get16(ip + kIpChecksum) & 0xFFFF;
    shared_.tcp_sum = ~get16(ip + kTcpChecksum) & 0xFFFF;
  }

  bool empty() const noexcept { return ring_.empty(); }

  void put_into(RawPacket& packet, const Endpoints& ends) noexcept {
    packet.captured_bytes = packet.wire_bytes = bytes_;
    put_into({&packet, 1}, [&ends] { return ends; });
  }

  /// Makes one frame for each packet, whose length is already set. `next()` returns its endpoints.
  template <class Next>
  void put_into(std::span<RawPacket> packets, Next next) noexcept {
    // Local copies stay in registers: for the compiler, frames could alias this object.
    const Shared shared = shared_;
    const std::size_t lines = lines_;
    Line* line = ring_.data() + at_;
    const Line* const end = ring_.data() + ring_.size();
    for (RawPacket& packet : packets) {
      write(line->bytes, shared, next());
      packet.data = line->bytes;
      line += lines;
      if (line == end) [[unlikely]]
        line = ring_.data();
    }
    at_ = static_cast<std::size_t>(line - ring_.data());
  }

 private:
  static constexpr std::size_t kFrames = 4 * kMostPackets;
  static constexpr std::size_t kIpChecksum = 10, kTcpChecksum = 20 + 16;  // offsets from the IP header

  struct alignas(64) Line {
    std::uint8_t bytes[64];
  };
  struct Shared {
    std::size_t ip_at = 0;
    std::uint32_t ip_sum = 0, tcp_sum = 0;  ///< sums without the endpoints
  };

  static void write(std::uint8_t* frame, const Shared& shared, const Endpoints& ends) noexcept {
    std::uint8_t* const ip = frame + shared.ip_at;
    const std::uint64_t addresses = __builtin_bswap64(std::uint64_t{ends.source} << 32 | ends.destination);
    std::memcpy(ip + 12, &addresses, sizeof addresses);
    put32(ip + 20, std::uint32_t{ends.source_port} << 16 | ends.destination_port);
    const std::uint32_t sum =
        (ends.source >> 16) + (ends.source & 0xFFFF) + (ends.destination >> 16) + (ends.destination & 0xFFFF);
    put_checksum(ip + kIpChecksum, shared.ip_sum + sum);
    put_checksum(ip + kTcpChecksum, shared.tcp_sum + sum + ends.source_port + ends.destination_port);
  }
  static void put_checksum(std::uint8_t* at, std::uint32_t sum) noexcept {
    sum = (sum & 0xFFFF) + (sum >> 16);
    put16(at, ~(sum + (sum >> 16)));
  }

  std::uint32_t bytes_ = 0;
  std::size_t lines_ = 0;   ///< cache lines per frame
  std::vector<Line> ring_;  ///< empty if there are no such frames
  std::size_t at_ = 0;
  Shared shared_;
};

}  // namespace parshall
