// SPDX-License-Identifier: Apache-2.0
#include "lab/cores/poll_gaps.hpp"

#include <algorithm>
#include <cmath>

namespace parshall::lab {

void GapCounter::add(const GapCounter& other) {
  for (std::size_t cycles = 0; cycles < kShort; ++cycles) short_[cycles] += other.short_[cycles];
  long_.insert(long_.end(), other.long_.begin(), other.long_.end());
}

PollGaps GapCounter::figures(double cycles_per_ns) const {
  std::vector<std::uint64_t> longest = long_;
  std::ranges::sort(longest);
  std::uint64_t gaps = longest.size();
  for (const std::uint64_t count : short_) gaps += count;
  if (gaps == 0) return {};

  const auto quantile = [&](double of) -> std::uint64_t {
    const auto wanted = static_cast<std::uint64_t>(std::ceil(of * static_cast<double>(gaps)));
    std::uint64_t seen = 0;
    for (std::size_t cycles = 0; cycles < kShort; ++cycles)
      if ((seen += short_[cycles]) >= wanted) return cycles;
    return longest[wanted - seen - 1];
  };
  const auto packets = [=](std::uint64_t cycles) {
    return static_cast<double>(cycles) / cycles_per_ns * PollGaps::kRateMpps * 1e-3;
  };
  double offered = 0, lost = 0;
  const auto offer = [&](std::uint64_t cycles, std::uint64_t count) {
    offered += packets(cycles) * static_cast<double>(count);
    lost += std::max(0.0, packets(cycles) - PollGaps::kQueuePackets) * static_cast<double>(count);
  };
  for (std::size_t cycles = 0; cycles < kShort; ++cycles) offer(cycles, short_[cycles]);
  for (const std::uint64_t cycles : longest) offer(cycles, 1);

  const auto us = [=](std::uint64_t cycles) { return static_cast<double>(cycles) / cycles_per_ns * 1e-3; };
  return {.p999_us = us(quantile(0.999)), .max_us = us(quantile(1)), .modelled_loss = offered > 0 ? lost / offered : 0};
}

}  // namespace parshall::lab
