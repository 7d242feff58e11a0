// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/huge_buffer.hpp"
#include "base/value_histogram.hpp"
#include "tester/flow_result.hpp"
#include "tester/flow_state.hpp"
#include "tester/frame_block.hpp"
#include "tester/test_plan.hpp"

namespace parshall::tester {

/// A frame of the test that arrived intact.
struct Arrival {
  std::uint32_t stream = 0;    ///< less than the plan's number of streams
  std::uint32_t sequence = 0;  ///< lower 32 bits
  std::uint64_t sent_ns = 0;   ///< when it should have been sent, since 1970
  std::uint64_t received_ns = 0;
  std::uint32_t wire_bytes = 0;
};

struct BookOptions {
  /// Frames of a flow that are remembered individually, rounded up to a power of two; a frame overtaken by more comes
  /// too late. Default: all frames of a flow, or fewer, so that all flows fit in 1 GB; from 1024 to 65,536.
  std::optional<std::uint64_t> window_frames = {};
  /// Jumps of a flow that are remembered for the extent of reordering, rounded up to a power of two. Default: as many
  /// as fit in 16 MB for all flows, from 8 to 1024.
  std::optional<std::size_t> jumps = {};
  std::optional<double> flow_latency_error = {};  ///< keeps a histogram per flow, with this relative error
};

/// A run of lost frames.
struct LossRun {
  std::uint64_t first = 0;
  std::uint64_t frames = 0;
};

/// Accounts for the frames of a test, flow by flow: lost, duplicated, reordered, late.
///
/// Latency is measured from when a frame should have been sent, not from when it was. So a delayed sender shows as late
/// frames. Full sequence numbers are derived from 32 bits, as the nearest to the flow's next.
///
/// Shape:  a flow has 64 B that every frame touches and 240 B more. Its window takes 32 B for each 64 frames, a jump 16
///         B, and a histogram, if requested, 2.4 kB at 5 %. The constructor reserves all memory; it is committed when
///         touched.
/// Cost:   8 ns for the next frame of one of few flows, 13 ns for one of a thousand, 60 to 100 ns for one of a million.
///         If most frames are overtaken, 28 ns (lab/bench/tester.cpp). No allocation, lock or clock per frame.
/// Error:  counts and losses are exact up to the window; `bytes()` returns the memory for that.
/// Full:   a frame that comes later than the window is too late: it cannot be told from a duplicate, and stays lost.
/// Source: RFC 4737 (reordering), RFC 3357 (loss periods), RFC 3550, A.8 (jitter), RFC 7679 (one-way delay).
class FlowBook {
 public:
  explicit FlowBook(const TestPlan& plan, const BookOptions& options = {});

  /// Adds frames in order of arrival.
  void add(std::span<const Arrival> arrivals) noexcept;

  /// Counts a corrupted frame of this stream.
  void add_corrupted(std::uint32_t stream) noexcept { ++tails_[stream].corrupted; }

  const TestPlan& plan() const noexcept { return plan_; }

  /// Returns the result of a flow of which `sent` frames were sent. Frames with a higher sequence are contradictory,
  /// and count neither as sent nor as received: `sent` counts the frames the sending device took, and no other has a
  /// higher number. Times do include them.
  FlowResult flow(std::uint32_t stream, std::uint64_t sent) const noexcept;

  /// Reports the flow's losses that are still in the window, in order. These are all losses, unless the window has
  /// moved on.
  void each_loss(std::uint32_t stream, std::uint64_t sent, const std::function<void(LossRun)>& tell) const;

  /// Returns the latency of all frames received.
  const ValueHistogram& latency_ns() const noexcept { return latency_; }
  const ValueHistogram* latency_ns(std::uint32_t stream) const noexcept {
    return flow_latency_.empty() ? nullptr : &flow_latency_[stream];
  }

  /// Returns the trailers whose full sequence contradicts the plan.
  std::uint64_t contradictory() const noexcept;

  /// Returns the memory used once all of it was touched.
  std::size_t bytes() const noexcept;

 private:
  void add(const Arrival& arrival) noexcept;
  void add_out_of_turn(FlowHead& head, const Arrival& arrival) noexcept;
  void add_ahead(FlowHead& head, FlowTail& tail, const Arrival& arrival, std::uint64_t sequence) noexcept;
  void add_late(FlowHead& head, FlowTail& tail, const Arrival& arrival, std::uint64_t sequence) noexcept;
  void add_times(FlowHead& head, const Arrival& arrival) noexcept;
  void open_blocks(FlowTail& tail, std::uint32_t stream, std::uint64_t last) noexcept;
  std::uint64_t overtakers(FlowTail& tail, std::uint32_t stream, std::uint64_t sequence) noexcept;
  std::uint64_t received_from(std::uint32_t stream, std::uint64_t sequence) const noexcept;

  FrameBlock& block(std::uint32_t stream, std::uint64_t number) noexcept {
    return blocks_[stream * flow_blocks_ + (number & (flow_blocks_ - 1))];
  }
  const FrameBlock& block(std::uint32_t stream, std::uint64_t number) const noexcept {
    return blocks_[stream * flow_blocks_ + (number & (flow_blocks_ - 1))];
  }
  std::span<Jump> jumps(std::uint32_t stream) noexcept { return {jumps_.data() + stream * flow_jumps_, flow_jumps_}; }

  TestPlan plan_;
  std::size_t flow_blocks_, flow_jumps_;  ///< powers of two
  HugeBuffer<FrameBlock> blocks_;
  HugeBuffer<Jump> jumps_;
  std::vector<FlowHead> heads_;
  std::vector<FlowTail> tails_;
  ValueHistogram latency_;
  std::vector<ValueHistogram> flow_latency_;
};

}  // namespace parshall::tester
