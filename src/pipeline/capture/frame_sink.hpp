// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.hpp"

namespace parshall {

/// A frame that is to be sent, where its sink wants it.
struct OutFrame {
  std::uint8_t* data = nullptr;  ///< where its first byte is to be; set by the sink
  std::uint32_t bytes = 0;       ///< without the frame check sequence
  std::uint64_t time_ns = 0;     ///< when it is sent, since 1970; for sinks that note it
};

/// Where frames go: a device's queue, a file, nowhere. Used by one thread.
class FrameSink {
 public:
  virtual ~FrameSink() = default;

  /// Room for the next frames, whose lengths (none above longest_frame()) and times are set: for fewer of them, or
  /// none, where there is no more now. What was reserved and not sent is free again.
  virtual std::size_t reserve(std::span<OutFrame> frames) noexcept = 0;

  /// Sends the first `count` frames of the last reserve(), in order, and returns how many were taken: less where the
  /// device takes no more now. Those that were not taken are gone.
  virtual std::size_t send(std::size_t count) noexcept = 0;

  /// What is held back until there is more goes out; what the other end has yet to take, it gets time to. Before the
  /// end.
  virtual void flush() noexcept {}

  /// The longest frame that it takes, in bytes without the frame check sequence.
  virtual std::uint32_t longest_frame() const noexcept = 0;

  /// The shortest.
  virtual std::uint32_t shortest_frame() const noexcept { return 0; }

  /// Bits per second of the line, where there is one and it says so.
  virtual std::optional<double> line_bps() const noexcept { return std::nullopt; }

  /// Why nothing can be sent any more.
  virtual std::optional<Error> damage() const { return std::nullopt; }
};

}  // namespace parshall
