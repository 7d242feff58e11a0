// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <cstring>
#include <span>

#include "base/prefetch.hpp"
#include "pipeline/capture/frame_sink.hpp"
#include "pipeline/capture/packet.hpp"

namespace parshall {

/// Makes the frames that go out of a source's packets. Called with some packets at a time, and for each first with
/// lengths(), then with write().
class FrameWriter {
 public:
  virtual ~FrameWriter() = default;

  /// Sets how many bytes the frame of each packet has; 0: the packet cannot be sent.
  virtual void lengths(std::span<const RawPacket> packets, std::span<OutFrame> frames) noexcept = 0;

  /// Writes each packet's frame where it is wanted, in that length. `due_ns`: when each was meant to be sent, since
  /// 1970; empty where frames go as fast as they are taken.
  virtual void write(std::span<const RawPacket> packets, std::span<const OutFrame> frames,
                     std::span<const std::uint64_t> due_ns) noexcept = 0;

  /// Frames written last, the first of them `packets[0]`'s, were not sent after all: nobody has them.
  virtual void take_back(std::span<const RawPacket> packets) noexcept { static_cast<void>(packets); }

  /// Whether a frame is other than its packet.
  virtual bool changes() const noexcept = 0;
};

/// Frames are their packets, as they were captured.
class FrameCopier final : public FrameWriter {
 public:
  void lengths(std::span<const RawPacket> packets, std::span<OutFrame> frames) noexcept override {
    for (std::size_t i = 0; i < packets.size(); ++i) frames[i].bytes = packets[i].captured_bytes;
  }
  void write(std::span<const RawPacket> packets, std::span<const OutFrame> frames,
             std::span<const std::uint64_t>) noexcept override {
    for (std::size_t i = 0; i < packets.size(); ++i) {
      prefetch_line(packets[i].data + kAhead);
      copy(frames[i].data, packets[i].data, frames[i].bytes);
    }
  }
  bool changes() const noexcept override { return false; }

  /// Bytes: built-in frames lie one behind the other, in more memory than there is cache, those of the next batch too.
  static constexpr std::size_t kAhead = 2048;

  /// Of short frames, which are the most and for which a call costs most, two halves that may overlap.
  static void copy(std::uint8_t* to, const std::uint8_t* from, std::uint32_t bytes) noexcept {
    constexpr std::uint32_t kHalf = 32;
    if (bytes < kHalf || bytes > 2 * kHalf) {
      std::memcpy(to, from, bytes);
      return;
    }
    std::uint8_t first[kHalf], last[kHalf];
    std::memcpy(first, from, kHalf);
    std::memcpy(last, from + bytes - kHalf, kHalf);
    std::memcpy(to, first, kHalf);
    std::memcpy(to + bytes - kHalf, last, kHalf);
  }
};

}  // namespace parshall
