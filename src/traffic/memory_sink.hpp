// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/huge_buffer.hpp"
#include "pipeline/capture/frame_sink.hpp"

namespace parshall {

/// Writes frames to memory, over earlier ones, and sends nothing; measures the cost of making them.
///
/// Shape: 1 MB; each frame takes whole cache lines. It stays in the L2 cache.
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
