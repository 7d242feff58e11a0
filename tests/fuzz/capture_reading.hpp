// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "fuzzing.hpp"
#include "pipeline/capture/capture_parser.hpp"

namespace parshall::fuzz {

/// All that was read of a packet, its bytes as a sum.
struct SeenPacket {
  std::uint64_t time_ns;
  std::uint32_t captured_bytes, wire_bytes;
  LinkType link_type;
  std::uint64_t sum;

  bool operator==(const SeenPacket&) const = default;
};

inline SeenPacket seen(const RawPacket& packet) {
  std::uint64_t sum = 0;
  for (const std::uint8_t byte : Bytes(packet.data, packet.captured_bytes)) sum = sum * 31 + byte;
  return {packet.time_ns, packet.captured_bytes, packet.wire_bytes, packet.link_type, sum};
}

/// What came of a capture.
struct CaptureReading {
  std::vector<SeenPacket> packets;
  std::optional<std::string> damage;

  bool operator==(const CaptureReading&) const = default;
};

/// Takes what can be taken from `bytes`; returns how much that was.
inline std::size_t take(CaptureParser& parser, Bytes bytes, std::span<RawPacket> batch, CaptureReading& reading) {
  std::size_t taken = 0;
  for (;;) {
    const Parsed parsed = parser.parse(bytes.subspan(taken), batch);
    require(parsed.packets <= batch.size() && parsed.bytes <= bytes.size() - taken);
    for (const RawPacket& packet : batch.first(parsed.packets)) {
      const Bytes captured(packet.data, packet.captured_bytes);
      require(captured.data() >= bytes.data() && captured.data() + captured.size() <= bytes.data() + bytes.size());
      reading.packets.push_back(seen(packet));
    }
    taken += parsed.bytes;
    if (parsed.bytes == 0) return taken;
  }
}

/// Nothing where it is no capture.
inline std::optional<CaptureReading> read_whole(Bytes bytes) {
  CaptureReading reading;
  const auto parser = make_capture_parser(bytes, "fuzz");
  if (!parser) return std::nullopt;
  std::array<RawPacket, 64> batch;
  const std::size_t taken = take(**parser, bytes, batch, reading);
  (*parser)->finish(bytes.subspan(taken));
  reading.damage = (*parser)->damage();
  return reading;
}

/// As much of a capture's beginning as is asked for.
inline Bytes head_of(Bytes bytes, std::size_t piece_bytes) {
  std::size_t head = std::min(piece_bytes, bytes.size());
  while (head < bytes.size() && wants_longer_head(bytes.first(head))) head = std::min(head + piece_bytes, bytes.size());
  return bytes.first(head);
}

}  // namespace parshall::fuzz
