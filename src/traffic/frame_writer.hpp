// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <cstring>
#include <span>

#include "base/prefetch.hpp"
#include "pipeline/capture/frame_sink.hpp"
#include "pipeline/capture/packet.hpp"

namespace parshall {

/// Makes the frames to send from a source's packets. For each group of packets, lengths() is called first, then
/// write().
class FrameWriter {
 public:
  virtual ~FrameWriter() = default;

  /// Sets the length of each packet's frame; 0 means that the packet cannot be sent.
  virtual void lengths(std::span<const RawPacket> packets, std::span<OutFrame> frames) noexcept = 0;

  /// Writes each packet's frame to its place with that length. `due_ns` has the planned sending times since 1970; it is
  /// empty if frames go as fast as possible.
  virtual void write(std::span<const RawPacket> packets, std::span<const OutFrame> frames,
                     std::span<const std::uint64_t> due_ns) noexcept = 0;

  /// Takes back frames that were written last but not sent; the first of them is `packets[0]`'s.
  virtual void take_back(std::span<const RawPacket> packets) noexcept { static_cast<void>(packets); }

  /// Returns whether frames differ from their packets.
  virtual bool changes() const noexcept = 0;
};

/// Copies packets unchanged.
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

  /// Prefetch distance in bytes. Built-in frames are contiguous, including the next batch, in more memory than the
  /// cache holds.
  static constexpr std::size_t kAhead = 2048;

  /// Copies a frame. For short frames, which are the most frequent, a call would be expensive: they are copied as two
  /// halves that may overlap.
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
