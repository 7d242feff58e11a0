// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "tester/test_report.hpp"
#include "traffic/frame_writer.hpp"

namespace parshall::tester {

/// Adds trailers to built-in frames with room for one: a sequence number within the stream, and the time at which the
/// frame should be sent.
///
/// Cost:   some ns a frame: checksums are updated, not computed again (RFC 1624).
class TrailerWriter final : public FrameWriter {
 public:
  /// `sent` counts the frames sent of each stream. `id` is that of the plan for reading them.
  explicit TrailerWriter(std::shared_ptr<std::vector<SentFlow>> sent, std::uint32_t id = 0)
      : sent_(std::move(sent)), id_(id) {}

  void lengths(std::span<const RawPacket> packets, std::span<OutFrame> frames) noexcept override;
  void write(std::span<const RawPacket> packets, std::span<const OutFrame> frames,
             std::span<const std::uint64_t> due_ns) noexcept override;
  void take_back(std::span<const RawPacket> packets) noexcept override;
  bool changes() const noexcept override { return true; }

 private:
  std::shared_ptr<std::vector<SentFlow>> sent_;
  std::uint32_t id_;
};

}  // namespace parshall::tester
