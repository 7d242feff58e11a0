// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "tester/frame_block.hpp"

namespace parshall::tester {

/// Frames of a flow that never came. A loss period is a run of them (RFC 3357).
struct Losses {
  std::uint64_t frames = 0;
  std::uint64_t periods = 0;
  std::uint64_t longest_frames = 0;
  /// Of the period that took longest: from when its first frame was meant to be sent to when the frame after it was, as
  /// the frames that came around it tell. Absent where nothing was lost, or too little came to tell.
  std::optional<std::uint64_t> longest_ns = {};
};

/// Adds up the losses of a flow, block by block.
///
/// A period of n frames between two that came d apart counts for d n / (n + 1): as if sent evenly between them. At the
/// test's begin and end, where only one side came, the flow's mean spacing stands for it.
/// Error: in time none for periods that reach over the end of a block, so of 64 frames or more, and of flows sent
///        evenly; else that of a straight line over 64 frames.
/// Source: RFC 3357 (loss period); RFC 6414 (failover time, from what was lost and from time).
class LossTally {
 public:
  /// The flow's next 64 frames, or its last ones.
  void add(const FrameBlock& block, unsigned frames = FrameBlock::kFrames) noexcept {
    if (any_came_ && run_ == 0 && ~block.received == 0) [[likely]]
      before_ns_ = block.last_ns;
    else
      add_mixed(block, frames);
  }

  /// So many that were all lost.
  void add_lost(std::uint64_t frames) noexcept { run_ += frames; }

  /// Of `sent` frames, all of which were added.
  Losses finish(std::uint64_t sent) const noexcept;

 private:
  void add_mixed(const FrameBlock& block, unsigned frames) noexcept;
  void end_run(std::uint64_t after_ns) noexcept;

  std::uint64_t run_ = 0;        ///< frames lost since the last that came
  std::uint64_t before_ns_ = 0;  ///< when that one was meant to be sent
  std::uint64_t first_ns_ = 0;   ///< when the first that came was
  std::uint64_t lost_at_begin_ = 0;
  std::uint64_t lost_ = 0, periods_ = 0, longest_frames_ = 0, longest_ns_ = 0;
  bool any_came_ = false;
};

}  // namespace parshall::tester
