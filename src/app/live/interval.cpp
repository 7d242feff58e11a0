// SPDX-License-Identifier: Apache-2.0
#include "app/live/interval.hpp"

#include <algorithm>

namespace parshall::live {
namespace {

std::uint64_t more(std::uint64_t before, std::uint64_t after) noexcept { return after - std::min(before, after); }

}  // namespace

Interval interval_between(const ReportSummary& before, const ReportSummary& after) {
  Interval interval{.came = Accounting(after.total - before.total), .states = after.states};
  if (before.adaptation && after.adaptation) {
    interval.seconds = after.adaptation->seconds - before.adaptation->seconds;
    interval.reduced_s = after.adaptation->reduced_s - before.adaptation->reduced_s;
    interval.windows = more(before.adaptation->windows, after.adaptation->windows);
    interval.infeasible = more(before.adaptation->infeasible, after.adaptation->infeasible);
  }
  for (std::size_t i = 0; i < std::min(before.states.size(), after.states.size()); ++i) {
    interval.states[i].packets -= before.states[i].packets;
    interval.states[i].kept -= before.states[i].kept;
  }
  return interval;
}

}  // namespace parshall::live
