// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "tester/loss_tally.hpp"

namespace parshall::tester {

/// Result of one flow's frames, or of all flows'. sent = received + losses.frames. A frame is received once, at its
/// first arrival; everything but `duplicates` refers to first arrivals.
struct FlowResult {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t duplicates = 0;     ///< repeated arrivals
  std::uint64_t contradictory = 0;  ///< arrivals with a sequence that no frame of the flow has
  std::uint64_t corrupted = 0;      ///< arrivals with a trailer that names the flow, and a wrong checksum; also lost
  std::uint64_t too_late = 0;       ///< arrivals beyond the window, perhaps duplicates; lost unless they came before
  Losses losses = {};

  /// Frames that arrived after a frame of their flow that was sent later. RFC 4737, section 3: Type-P-Reordered.
  std::uint64_t reordered = 0;
  std::uint64_t reordered_by_3 = 0;  ///< after three such in a row, which TCP takes for loss; RFC 4737, 5
  std::uint64_t extent_sum = 0;      ///< sum of reordering extents, in frames that came: RFC 4737, section 4.2
  std::uint64_t extent_largest = 0;
  std::uint64_t extents_at_least = 0;  ///< number of extents that are lower bounds

  /// Frames that arrived before a frame of their flow that was sent earlier, and came later.
  std::uint64_t overtaking = 0;

  std::uint64_t wire_bytes = 0;  ///< bytes received, without the frame check sequence

  std::uint64_t latencies = 0;           ///< number of received frames with a latency that is not negative
  std::uint64_t negative_latencies = 0;  ///< arrivals before the time of sending: a clock is wrong
  std::optional<std::uint64_t> latency_least_ns = {}, latency_largest_ns = {};
  std::optional<double> latency_mean_ns = {};
  std::optional<double> jitter_ns = {};  ///< RFC 3550, section 6.4.1; for all flows: the mean of the flows

  std::optional<double> extent_mean() const noexcept {
    if (reordered == 0) return std::nullopt;
    return static_cast<double>(extent_sum) / static_cast<double>(reordered);
  }
};

}  // namespace parshall::tester
