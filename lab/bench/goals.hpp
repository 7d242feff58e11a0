// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/core.h>

#include <string>
#include <vector>

namespace parshall::bench {

/// Goal for a figure of this run.
struct Goal {
  std::string what;
  double figure, limit;
  bool at_most;  ///< false: at least

  bool is_met() const noexcept { return at_most ? figure <= limit : figure >= limit; }
};

inline void print(const std::vector<Goal>& goals) {
  fmt::print("\n{:<72} {:>6}  {:>9}\n", "goal", "figure", "asked");
  for (const Goal& goal : goals)
    fmt::print("{:<72} {:>6.2f}  {} {:<4}  {}\n", goal.what, goal.figure, goal.at_most ? "at most " : "at least",
               goal.limit, goal.is_met() ? "met" : "MISSED");
}

}  // namespace parshall::bench
