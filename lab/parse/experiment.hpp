// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "base/figures/harness.hpp"
#include "base/result.hpp"
#include "lab/parse/frame_memory.hpp"
#include "lab/parse/header_access.hpp"

namespace parshall::lab {

/// Parameters of `parshall bench parse`; every combination of traffic and memory is measured.
struct ParseSweep {
  std::vector<const HeaderAccess*> accesses;
  std::vector<const FrameKind*> traffic;
  std::vector<std::size_t> memory_bytes;  ///< at least FrameMemory::kLeastBytes each
  std::vector<bool> prefetch{true, false};
  int rounds = 15;
  std::uint64_t seed = 1;
};

/// One access method on one combination.
struct ParseRow {
  const HeaderAccess* access;
  const FrameKind* traffic;
  std::size_t memory_bytes;
  bool prefetch;  ///< also false if there is nothing to prefetch
  Cost cost;      ///< per packet, including polling its descriptor
};

/// Measures, and passes on the rows of each combination when it is done. Before a clock starts, all fields that each
/// method reads are compared with decode_any(). Error: they differ, or there is not enough memory. `stop` is called
/// before each round; the combination that it ends is not passed on. Returns the number of combinations.
Result<std::size_t> measure_parsing(const ParseSweep& sweep, const std::function<void(std::span<const ParseRow>)>& done,
                                    const std::function<bool()>& stop);

/// Returns the number of combinations.
std::size_t combinations(const ParseSweep& sweep) noexcept;

}  // namespace parshall::lab
