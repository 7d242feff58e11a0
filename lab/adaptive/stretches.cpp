// SPDX-License-Identifier: Apache-2.0
#include "lab/adaptive/stretches.hpp"

#include <algorithm>

namespace parshall::lab {
namespace {

constexpr std::uint64_t kStretchNs = 500'000'000;

}  // namespace

std::uint64_t warm_up_windows(const AdaptiveSweep& sweep) noexcept {
  return static_cast<std::uint64_t>(std::min(sweep.warm_up_s, sweep.seconds / 2) * 1e9) / kWindowNs;
}

Stretches judged_stretches(const AdaptiveSweep& sweep) {
  const std::uint64_t begin = kTrafficStartNs / kWindowNs + 1;
  const std::uint64_t first = begin + warm_up_windows(sweep);
  const std::uint64_t last = begin + static_cast<std::uint64_t>(sweep.seconds * 1e9) / kWindowNs - 3;
  if (sweep.stretches == 0) return {{first, last}};
  Stretches some;
  const std::uint64_t apart = (last - first) / sweep.stretches;
  for (std::uint64_t i = 0; i < sweep.stretches; ++i) {
    const std::uint64_t from = first + i * apart;
    some.push_back({from, std::min(from + kStretchNs / kWindowNs, from + apart) - 1});
  }
  return some;
}

}  // namespace parshall::lab
