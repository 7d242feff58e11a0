// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <cstring>
#include <optional>

#include "generate/frame.hpp"

namespace parshall {

/// What a frame of a device test says of itself: the last bytes of its TCP or UDP payload.
///
/// Shape: 16 bytes, in network byte order: magic (2), time (6), stream (4), sequence (4). Of the time, ns since 1970,
///        it has the lower 48 bits: they come again every 78 hours.
struct Trailer {
  static constexpr std::size_t kBytes = 16;
  static constexpr std::uint32_t kMagic = 0x9A52;
  static constexpr int kTimeBits = 48;

  std::uint32_t stream = 0;    ///< the flow's number; in a test with an id, XORed with that
  std::uint32_t sequence = 0;  ///< of the frame among its stream's, from 0; goes round after 2^32
  std::uint64_t time_ns = 0;   ///< when the frame was meant to be sent: only the lower 48 bits where it was read

  void write(std::uint8_t* at) const noexcept {
    put16(at, kMagic);
    put16(at + 2, static_cast<std::uint32_t>(time_ns >> 32 & 0xFFFF));
    put32(at + 4, static_cast<std::uint32_t>(time_ns));
    put32(at + 8, stream);
    put32(at + 12, sequence);
  }

  /// Of its words, as the Internet checksum adds them: not folded.
  std::uint64_t sum() const noexcept {
    return kMagic + (time_ns >> 32 & 0xFFFF) + (time_ns & 0xFFFFFFFF) + stream + sequence;
  }

  /// Nothing where the magic is not there. One of 65,536 frames of other traffic passes for one with a trailer: what it
  /// says is to be checked against what was sent.
  static std::optional<Trailer> read(const std::uint8_t* at) noexcept {
    if (get16(at) != kMagic) return std::nullopt;
    return Trailer{.stream = get32(at + 8),
                   .sequence = get32(at + 12),
                   .time_ns = std::uint64_t{get16(at + 2)} << 32 | get32(at + 4)};
  }

  /// The time in full, which is within 39 hours of `about_ns`.
  std::uint64_t full_time_ns(std::uint64_t about_ns) const noexcept {
    const std::uint64_t ahead = (time_ns - about_ns) << (64 - kTimeBits);
    return about_ns + static_cast<std::uint64_t>(static_cast<std::int64_t>(ahead) >> (64 - kTimeBits));
  }
};

}  // namespace parshall
