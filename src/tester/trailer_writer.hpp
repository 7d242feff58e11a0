// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "generate/frame_writer.hpp"
#include "tester/test_report.hpp"

namespace parshall::tester {

/// Frames of built-in traffic with room for a trailer, numbered one by one within their streams, with the time at which
/// each was meant to be sent.
///
/// Cost:  some ns a frame: checksums are brought up to date, not computed again (RFC 1624).
class TrailerWriter final : public FrameWriter {
 public:
  /// `sent`: of each stream, counts what was sent. `id`: of the plan by which the frames are to be read.
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
