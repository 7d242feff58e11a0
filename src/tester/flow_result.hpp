// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "tester/loss_tally.hpp"

namespace parshall::tester {

/// What became of a flow's frames, or of all flows'. sent = received + losses.frames; a frame is received once, the
/// first time it comes, and everything but `duplicates` is about those.
struct FlowResult {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t duplicates = 0;     ///< came again
  std::uint64_t contradictory = 0;  ///< came with a sequence that no frame of the flow has
  std::uint64_t corrupted = 0;      ///< came with a trailer that names the flow, and a wrong checksum; lost as well
  std::uint64_t too_late = 0;  ///< came when the window was past them: nobody knows whether again; lost, if not again
  Losses losses = {};

  /// Overtaken: came after a frame of its flow that was sent later. RFC 4737, section 3: Type-P-Reordered.
  std::uint64_t reordered = 0;
  std::uint64_t reordered_by_3 = 0;  ///< after three such in a row: what TCP takes for loss. RFC 4737, section 5
  std::uint64_t extent_sum = 0;      ///< of reordering, in frames that came: RFC 4737, section 4.2
  std::uint64_t extent_largest = 0;
  std::uint64_t extents_at_least = 0;  ///< of them so many are lower bounds

  /// Overtakers: came before a frame of its flow that was sent earlier, and came later.
  std::uint64_t overtaking = 0;

  std::uint64_t wire_bytes = 0;  ///< of what was received, without the frame check sequence

  std::uint64_t latencies = 0;           ///< of frames received: those that are not negative
  std::uint64_t negative_latencies = 0;  ///< came before they were meant to be sent: a clock is wrong
  std::optional<std::uint64_t> latency_least_ns = {}, latency_largest_ns = {};
  std::optional<double> latency_mean_ns = {};
  std::optional<double> jitter_ns = {};  ///< RFC 3550, section 6.4.1; of all flows: the mean of theirs

  std::optional<double> extent_mean() const noexcept {
    if (reordered == 0) return std::nullopt;
    return static_cast<double>(extent_sum) / static_cast<double>(reordered);
  }
};

}  // namespace parshall::tester
