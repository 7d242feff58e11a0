// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <cstring>
#include <optional>

#include "traffic/frame.hpp"

namespace parshall {

/// Data that a frame of a device test carries about itself, in the last bytes of its TCP or UDP payload.
///
/// Shape: 16 bytes, in network byte order: magic (2), time (6), stream (4), sequence (4). The time is the lower 48 bits
///        of ns since 1970, which repeat every 78 hours.
struct Trailer {
  static constexpr std::size_t kBytes = 16;
  static constexpr std::uint32_t kMagic = 0x9A52;
  static constexpr int kTimeBits = 48;

  std::uint32_t stream = 0;    ///< the flow's number; in a test with an id, XORed with it
  std::uint32_t sequence = 0;  ///< number of the frame in its stream, from 0; wraps after 2^32
  std::uint64_t time_ns = 0;   ///< planned sending time; only the lower 48 bits after read()

  void write(std::uint8_t* at) const noexcept {
    put16(at, kMagic);
    put16(at + 2, static_cast<std::uint32_t>(time_ns >> 32 & 0xFFFF));
    put32(at + 4, static_cast<std::uint32_t>(time_ns));
    put32(at + 8, stream);
    put32(at + 12, sequence);
  }

  /// Returns the sum of its words for the Internet checksum, not folded.
  std::uint64_t sum() const noexcept {
    return kMagic + (time_ns >> 32 & 0xFFFF) + (time_ns & 0xFFFFFFFF) + stream + sequence;
  }

  /// Reads a trailer; nullopt without the magic. One of 65,536 frames of other traffic passes by chance, so the
  /// contents must be checked against what was sent.
  static std::optional<Trailer> read(const std::uint8_t* at) noexcept {
    if (get16(at) != kMagic) return std::nullopt;
    return Trailer{.stream = get32(at + 8),
                   .sequence = get32(at + 12),
                   .time_ns = std::uint64_t{get16(at + 2)} << 32 | get32(at + 4)};
  }

  /// Returns the full time, which must be within 39 hours of `about_ns`.
  std::uint64_t full_time_ns(std::uint64_t about_ns) const noexcept {
    const std::uint64_t ahead = (time_ns - about_ns) << (64 - kTimeBits);
    return about_ns + static_cast<std::uint64_t>(static_cast<std::int64_t>(ahead) >> (64 - kTimeBits));
  }
};

}  // namespace parshall
