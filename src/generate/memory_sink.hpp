// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/huge_buffer.hpp"
#include "pipeline/capture/frame_sink.hpp"

namespace parshall {

/// Frames are written to memory, over those that were there before, and go no further: what making them costs.
///
/// Shape: 1 MB, of which each frame takes whole cache lines, so that it stays in the second cache.
class MemorySink final : public FrameSink {
 public:
  MemorySink() : memory_(kBytes + kLongest) {}

  std::size_t reserve(std::span<OutFrame> frames) noexcept override {
    for (OutFrame& frame : frames) {
      if (at_ >= kBytes) at_ = 0;
      frame.data = memory_.data() + at_;
      at_ += (frame.bytes + 63u) / 64 * 64;
    }
    return frames.size();
  }
  std::size_t send(std::size_t count) noexcept override { return count; }
  std::uint32_t longest_frame() const noexcept override { return kLongest; }

 private:
  static constexpr std::uint32_t kLongest = 65536;
  static constexpr std::size_t kBytes = 1 << 20;

  HugeBuffer<std::uint8_t> memory_;
  std::size_t at_ = 0;
};

}  // namespace parshall
