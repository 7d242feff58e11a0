// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace parshall {

/// The largest window that data may be decompressed with: what is allowed of it is allocated.
inline constexpr std::size_t kMostWindowBytes = 128u << 20;

/// What one call of Decoder::decode did. None of it is possible: more is wanted.
struct Progress {
  std::size_t taken = 0;             ///< bytes of `from` that are done with
  std::size_t given = 0;             ///< bytes of `to` that were filled
  bool frame_ended = false;          ///< with the bytes taken
  std::optional<std::string> wrong;  ///< why it goes no further; what was given before is sound as far as is known
  bool over_limit = false;           ///< what is wrong is not the data, but a limit of ours
};

/// A library's way to decompress one format, a frame (gzip: a member, xz: a stream) after the other.
class Decoder {
 public:
  virtual ~Decoder() = default;

  /// Goes on as far as `from` and the room in `to` allow, at most to the end of the frame.
  virtual Progress decode(std::span<const std::uint8_t> from, std::span<std::uint8_t> to) = 0;

  /// After the end of a frame: the next one begins. False where there is no memory for it.
  virtual bool begin_frame() { return true; }
};

}  // namespace parshall
