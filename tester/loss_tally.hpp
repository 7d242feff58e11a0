// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "tester/frame_block.hpp"

namespace parshall::tester {

/// Lost frames of a flow. A loss period is a run of them (RFC 3357).
struct Losses {
  std::uint64_t frames = 0;
  std::uint64_t periods = 0;
  std::uint64_t longest_frames = 0;
  /// Duration of the longest period, from when its first frame should have been sent to when the frame after it should
  /// have been, derived from the frames around it. Unset if nothing was lost, or too few frames came.
  std::optional<std::uint64_t> longest_ns = {};
};

/// Adds up the losses of a flow, block by block.
///
/// A period of n frames between two received frames with a distance of d counts as d n / (n + 1), as if they were sent
/// evenly. At the beginning and end of the test, where only one neighbour came, the flow's mean spacing is used.
///
/// Error:  durations are exact for periods that span the end of a block, so for all of 64 frames or more, and for
///         evenly sent flows. Otherwise the error is that of linear interpolation over 64 frames.
/// Source: RFC 3357 (loss period); RFC 6414 (failover time, from losses and from time).
class LossTally {
 public:
  /// Adds the flow's next 64 frames, or its last ones.
  void add(const FrameBlock& block, unsigned frames = FrameBlock::kFrames) noexcept {
    if (any_came_ && run_ == 0 && ~block.received == 0) [[likely]]
      before_ns_ = block.last_ns;
    else
      add_mixed(block, frames);
  }

  /// Adds frames that were all lost.
  void add_lost(std::uint64_t frames) noexcept { run_ += frames; }

  /// Returns the losses of `sent` frames, all of which were added.
  Losses finish(std::uint64_t sent) const noexcept;

 private:
  void add_mixed(const FrameBlock& block, unsigned frames) noexcept;
  void end_run(std::uint64_t after_ns) noexcept;

  std::uint64_t run_ = 0;        ///< frames lost since the last received one
  std::uint64_t before_ns_ = 0;  ///< when that one should have been sent
  std::uint64_t first_ns_ = 0;   ///< when the first received one should have been sent
  std::uint64_t lost_at_begin_ = 0;
  std::uint64_t lost_ = 0, periods_ = 0, longest_frames_ = 0, longest_ns_ = 0;
  bool any_came_ = false;
};

}  // namespace parshall::tester
