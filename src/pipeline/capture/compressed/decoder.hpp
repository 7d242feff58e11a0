// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace parshall {

/// Largest window that data may be decompressed with. The libraries allocate what the data asks for, up to this.
inline constexpr std::size_t kMostWindowBytes = 128u << 20;

/// Result of one call of Decoder::decode(). If it is empty, the decoder needs more input.
struct Progress {
  std::size_t taken = 0;             ///< bytes of `from` that were consumed
  std::size_t given = 0;             ///< bytes of `to` that were filled
  bool frame_ended = false;          ///< true if the consumed bytes end the frame
  std::optional<std::string> wrong;  ///< why decoding cannot go on; output before that is valid as far as is known
  bool over_limit = false;           ///< true if the data exceeds our limit, and is not damaged
};

/// Decoder of one compression format, frame by frame (gzip: a member, xz: a stream).
class Decoder {
 public:
  virtual ~Decoder() = default;

  /// Decodes as far as `from` and the room in `to` allow, at most to the end of the frame.
  virtual Progress decode(std::span<const std::uint8_t> from, std::span<std::uint8_t> to) = 0;

  /// Begins the next frame after the end of one. Returns false if there is no memory for it.
  virtual bool begin_frame() { return true; }
};

}  // namespace parshall
