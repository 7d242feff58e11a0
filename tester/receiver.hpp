// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

#include "pipeline/capture/packet.hpp"
#include "tester/flow_book.hpp"
#include "tester/frame_reader.hpp"

namespace parshall::tester {

/// Counts of received frames by kind; each frame has one.
struct FrameCounts {
  std::uint64_t ours = 0;  ///< includes those with an invalid full sequence, which the book counts as contradictory
  std::uint64_t corrupted = 0;
  std::uint64_t corrupted_of_no_flow = 0;  ///< part of `corrupted` that names no flow
  std::uint64_t contradictory = 0;
  std::uint64_t foreign = 0;
  std::uint64_t cut = 0;

  std::uint64_t all() const noexcept { return ours + corrupted + contradictory + foreign + cut; }
};

/// Receiving side of a test: classifies each frame, and keeps the book. Used by one thread.
class Receiver {
 public:
  explicit Receiver(const TestPlan& plan, const BookOptions& options = {}) : reader_(plan), book_(plan, options) {}

  /// Takes frames in order of arrival.
  void take(std::span<const RawPacket> packets) noexcept;

  const FlowBook& book() const noexcept { return book_; }
  const FrameCounts& frames() const noexcept { return frames_; }

  /// Returns when the last frame with a trailer of any test came, since 1970; 0: none came.
  std::uint64_t last_trailer_ns() const noexcept { return std::max(last_ns_, last_other_ns_); }

  /// Returns the time in ns from the first frame of this test to the last.
  std::uint64_t receiving_ns() const noexcept { return last_ns_ > first_ns_ ? last_ns_ - first_ns_ : 0; }

 private:
  void take_other(const TestFrame& frame) noexcept;

  FrameReader reader_;
  FlowBook book_;
  FrameCounts frames_;
  std::uint64_t first_ns_ = ~std::uint64_t{0}, last_ns_ = 0;
  std::uint64_t last_other_ns_ = 0;  ///< last frame with a trailer that is not ours
};

}  // namespace parshall::tester
