// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/huge_buffer.hpp"
#include "base/result.hpp"
#include "pipeline/capture/packet.hpp"

namespace parshall::lab {

/// Kind of frames.
struct FrameKind {
  std::string_view name;
  std::string_view help;
  bool ipv6;
  bool tagged;  ///< with a VLAN tag
};

/// Lists all kinds.
std::span<const FrameKind> frame_kinds() noexcept;

/// Frames of built-in traffic of one kind, TCP and UDP mixed at random, in a given amount of memory.
///
/// Shape:  equally long frames, each in a slot of a multiple of 64 bytes.
class FrameMemory {
 public:
  static constexpr std::size_t kLeastBytes = 64'000;

  /// Makes frames in at least kLeastBytes. Throws std::bad_alloc; overcommitted memory fails only when it is written.
  static Result<FrameMemory> make(const FrameKind& kind, std::size_t bytes, std::uint64_t seed);

  const std::uint8_t* frame(std::size_t i) const noexcept { return frames_.data() + i * stride_; }
  std::size_t frames() const noexcept { return frames_.size() / stride_; }
  std::uint32_t frame_bytes() const noexcept { return frame_bytes_; }

 private:
  HugeBuffer<std::uint8_t> frames_;
  std::size_t stride_ = 64;
  std::uint32_t frame_bytes_ = 0;
};

/// Walks over the frames of a memory, each once before any repeats, in the pattern of a device that writes to free
/// buffers. It jumps between positions, so that no hardware prefetcher can predict the next.
class FrameWalk {
 public:
  /// Begins after `begin` frames of the walk.
  FrameWalk(const FrameMemory& memory, std::size_t begin) noexcept;

  /// Returns descriptors of the next frames, as a device writes them, including its hash.
  void poll(std::span<RawPacket> out) noexcept {
    for (RawPacket& packet : out) {
      packet = {.data = memory_->frame(at_),
                .time_ns = ++time_ns_,
                .captured_bytes = bytes_,
                .wire_bytes = bytes_,
                .nic_hash = static_cast<std::uint32_t>(at_),
                .has_nic_hash = true};
      at_ = at_ + step_ >= frames_ ? at_ + step_ - frames_ : at_ + step_;
    }
  }

 private:
  const FrameMemory* memory_;
  std::size_t frames_, step_, at_;
  std::uint32_t bytes_;
  std::uint64_t time_ns_ = 0;
};

}  // namespace parshall::lab
