// SPDX-License-Identifier: Apache-2.0
#include "lab/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace parshall::lab {

std::string cheapest_of(std::span<const Rival> rivals, std::string_view did) {
  if (rivals.size() < 2) return fmt::format("no comparison: fewer than two {}", did);
  constexpr std::size_t kFewest = 6;  // least number of samples with a 95 % interval
  for (const Rival& rival : rivals)
    if (rival.cost.kept < kFewest)
      return fmt::format("no winner: {} undisturbed samples of {}, but {} are needed", rival.cost.kept, rival.name,
                         kFewest);
  const auto best = std::ranges::min_element(rivals, {}, [](const Rival& rival) { return rival.cost.median_ns; });
  std::string others;
  for (const Rival& rival : rivals)
    if (&rival != &*best && rival.cost.low_ns <= best->cost.high_ns) others += fmt::format(", {}", rival.name);
  if (!others.empty()) return fmt::format("no winner: the intervals of {}{} overlap", best->name, others);
  return fmt::format("cheapest of those that {}: {}", did, best->name);
}

}  // namespace parshall::lab
