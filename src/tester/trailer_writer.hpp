// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "generate/frame_writer.hpp"

namespace parshall::tester {

/// Frames of built-in traffic with room for a trailer, numbered one by one within their streams, with the time at which
/// each was meant to be sent.
///
/// Shape: 8 bytes a stream.
/// Cost:  some ns a frame: checksums are brought up to date, not computed again (RFC 1624).
class TrailerWriter final : public FrameWriter {
 public:
  /// Frames of how many streams there are; `sent` counts those of each.
  explicit TrailerWriter(std::shared_ptr<std::vector<std::uint64_t>> sent) : sent_(std::move(sent)) {}

  void lengths(std::span<const RawPacket> packets, std::span<OutFrame> frames) noexcept override;
  void write(std::span<const RawPacket> packets, std::span<const OutFrame> frames,
             std::span<const std::uint64_t> due_ns) noexcept override;
  void take_back(std::span<const RawPacket> packets) noexcept override;
  bool changes() const noexcept override { return true; }

 private:
  std::shared_ptr<std::vector<std::uint64_t>> sent_;
};

}  // namespace parshall::tester
