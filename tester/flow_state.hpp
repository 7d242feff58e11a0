// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>

#include "tester/jump_history.hpp"
#include "tester/loss_tally.hpp"

namespace parshall::tester {

/// State of a flow that every frame touches.
struct alignas(64) FlowHead {
  std::uint64_t next = 0;  ///< RFC 4737's NextExp: one more than the largest sequence that came
  std::uint64_t arrivals = 0;
  std::uint64_t wire_bytes = 0;
  std::uint64_t latency_sum_ns = 0;  ///< modulo 2^64
  std::uint64_t latency_least_ns = ~std::uint64_t{0};
  std::uint64_t latency_largest_ns = 0;
  std::int64_t transit_ns = 0;  ///< latency of the last frame; may be negative
  double jitter_ns = 0;
};
static_assert(sizeof(FlowHead) == 64);

/// State of a flow that is touched by frames out of sequence, and by one of 64 in sequence.
struct FlowTail {
  std::uint64_t duplicates = 0, corrupted = 0, too_late = 0, contradictory = 0;
  std::uint64_t reordered = 0, reordered_by_3 = 0, overtaking = 0;
  std::uint64_t extent_sum = 0, extent_largest = 0, extents_at_least = 0;
  std::uint64_t negative_latencies = 0, latency_carries = 0;
  std::uint64_t first_block = 0;          ///< first of the window; earlier ones are in `losses`
  std::uint64_t blocks = 0;               ///< one past the last in the window
  std::uint64_t noted_at = 0;             ///< arrivals when `latest` was noted; later ones came in sequence
  std::array<std::uint64_t, 3> latest{};  ///< sequences of the last arrivals, newest first; initially 0
  JumpHistory jumps;
  LossTally losses;
};
static_assert(sizeof(FlowTail) <= 240);

}  // namespace parshall::tester
