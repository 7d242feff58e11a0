// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.hpp"

namespace parshall {

/// Frame to be sent, in memory that the sink provides.
struct OutFrame {
  std::uint8_t* data = nullptr;  ///< place for its first byte; set by the sink
  std::uint32_t bytes = 0;       ///< without the frame check sequence
  std::uint64_t time_ns = 0;     ///< sending time in ns since 1970, for sinks that note it
};

/// Destination of frames, such as a device's queue or a file. Used by one thread.
class FrameSink {
 public:
  virtual ~FrameSink() = default;

  /// Reserves memory for the next frames, whose times and lengths (at most longest_frame()) are set. Returns how many
  /// it has room for, which may be fewer or none. Frames reserved earlier and not sent are released.
  virtual std::size_t reserve(std::span<OutFrame> frames) noexcept = 0;

  /// Sends the first `count` frames of the last reserve(), in order. Returns how many were taken, which is fewer if the
  /// device takes no more now. The others are lost.
  virtual std::size_t send(std::size_t count) noexcept = 0;

  /// Sends what was held back, and gives the other end time to take what it has not. Call it at the end.
  virtual void flush() noexcept {}

  /// Returns the longest frame that the sink takes, in bytes without the frame check sequence.
  virtual std::uint32_t longest_frame() const noexcept = 0;

  /// Returns the shortest frame that the sink takes, likewise.
  virtual std::uint32_t shortest_frame() const noexcept { return 0; }

  /// Returns the line rate in bits per second, if known.
  virtual std::optional<double> line_bps() const noexcept { return std::nullopt; }

  /// Returns why nothing can be sent any more, if so.
  virtual std::optional<Error> damage() const { return std::nullopt; }
};

}  // namespace parshall
