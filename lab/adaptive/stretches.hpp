// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "lab/adaptive/experiment.hpp"

namespace parshall::lab {

inline constexpr std::uint64_t kWindowNs = 10'000'000;

/// Windows that are judged, including the last.
struct Stretch {
  std::uint64_t first, last;
  bool has(std::uint64_t window) const noexcept { return window >= first && window <= last; }
};
/// Stretches in order, without overlap.
using Stretches = std::vector<Stretch>;

std::uint64_t warm_up_windows(const AdaptiveSweep& sweep) noexcept;

/// Returns the judged windows: without the first one, in which tasks have no history, and the last one, which is
/// incomplete.
Stretches judged_stretches(const AdaptiveSweep& sweep);

}  // namespace parshall::lab
