// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "base/figures/harness.hpp"
#include "base/result.hpp"
#include "lab/frame_memory.hpp"
#include "lab/header_access.hpp"

namespace parshall::lab {

/// What `parshall bench parse` varies: every combination of traffic and memory is measured.
struct ParseSweep {
  std::vector<const HeaderAccess*> accesses;
  std::vector<const FrameKind*> traffic;
  std::vector<std::size_t> memory_bytes;  ///< at least FrameMemory::kLeastBytes each
  std::vector<bool> prefetch{true, false};
  int rounds = 15;
  std::uint64_t seed = 1;
};

/// One access on one combination.
struct ParseRow {
  const HeaderAccess* access;
  const FrameKind* traffic;
  std::size_t memory_bytes;
  bool prefetch;  ///< false too where there is nothing to prefetch
  Cost cost;      ///< per packet, polling its descriptor included
};

/// Measures, and hands over the rows of each combination as it is done. Before a clock starts, what every access reads
/// of every frame is compared with what decode_any() says: a difference is an error, and so is more memory than there
/// is. `stop` is asked before each round; the combination that it ends is not handed over. Returns how many were.
Result<std::size_t> measure_parsing(const ParseSweep& sweep, const std::function<void(std::span<const ParseRow>)>& done,
                                    const std::function<bool()>& stop);

/// How many combinations there are.
std::size_t combinations(const ParseSweep& sweep) noexcept;

}  // namespace parshall::lab
