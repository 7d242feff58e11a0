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

/// A frame of the test that came whole.
struct Arrival {
  std::uint32_t stream = 0;    ///< below the plan's
  std::uint32_t sequence = 0;  ///< the lower 32 bits
  std::uint64_t sent_ns = 0;   ///< when it was meant to be sent, since 1970
  std::uint64_t received_ns = 0;
  std::uint32_t wire_bytes = 0;
};

struct BookOptions {
  /// Of a flow, remembered one by one, rounded up to a power of two: one that is overtaken by so many comes too late.
  /// All that it gets if those are fewer; else as many as fit in 1 GB for all flows, from 1024 to 65,536.
  std::optional<std::uint64_t> window_frames = {};
  /// Of a flow, remembered for extents of reordering, rounded up likewise; else as many as fit in 16 MB for all flows,
  /// from 8 to 1024.
  std::optional<std::size_t> jumps = {};
  std::optional<double> flow_latency_error = {};  ///< keeps a histogram for each flow, with this relative error
};

/// Frames lost one after the other.
struct LossRun {
  std::uint64_t first = 0;
  std::uint64_t frames = 0;
};

/// Accounts for the frames of a test, flow by flow: lost, duplicated, reordered, late.
///
/// Latency is from when a frame was meant to be sent, not from when it was: a sender that is held up makes them late
/// instead of leaving no trace. Sequences are told in full from 32 bits, as the nearest to the flow's next.
///
/// Shape: a flow has 64 B that every frame touches and 240 B beside, 32 B for each 64 frames of its window, 16 B for a
/// jump, and
///        a histogram where asked (2.4 kB at 5 %). All is reserved by the constructor, and committed when touched.
/// Cost:  8 ns for the next frame of one of few flows, 13 ns of a thousand, 60 to 100 ns of a million; 28 ns where most
///        frames are overtaken (bench/tester.cpp). No allocation, lock or clock per frame.
/// Error: counts are exact up to the window, as are losses; `bytes()` says what that takes.
/// Full:  a frame that comes later than the window is too late: it can't be told from a duplicate, and stays lost.
/// Source: RFC 4737 (reordering), RFC 3357 (loss periods), RFC 3550, A.8 (jitter), RFC 7679 (one-way delay).
class FlowBook {
 public:
  explicit FlowBook(const TestPlan& plan, const BookOptions& options = {});

  /// In the order in which they came.
  void add(std::span<const Arrival> arrivals) noexcept;

  /// A frame of this stream came corrupted.
  void add_corrupted(std::uint32_t stream) noexcept { ++tails_[stream].corrupted; }

  const TestPlan& plan() const noexcept { return plan_; }

  /// Of a flow of which `sent` frames were sent. Those whose sequence says that they were more are contradictory, and
  /// neither sent nor received: the sender's count is that of frames its device took, and no other was numbered higher.
  /// Times are of theirs, too.
  FlowResult flow(std::uint32_t stream, std::uint64_t sent) const noexcept;

  /// The flow's losses that are still in the window, in order: all of them, unless frames came from beyond it.
  void each_loss(std::uint32_t stream, std::uint64_t sent, const std::function<void(LossRun)>& tell) const;

  /// Of all frames received.
  const ValueHistogram& latency_ns() const noexcept { return latency_; }
  const ValueHistogram* latency_ns(std::uint32_t stream) const noexcept {
    return flow_latency_.empty() ? nullptr : &flow_latency_[stream];
  }

  /// Trailers whose sequence in full is against the plan.
  std::uint64_t contradictory() const noexcept;

  /// Of memory, once all of it was touched.
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
