// SPDX-License-Identifier: Apache-2.0
#include "tester/watch_loss/overall_loss.hpp"

#include <algorithm>
#include <vector>

#include "base/mean_interval.hpp"

namespace parshall::tester {

OverallLoss overall_loss(std::span<const MonitorRun> runs) {
  OverallLoss loss;
  std::vector<double> ratios;
  for (const MonitorRun& run : runs) {
    loss.offered += run.offered;
    loss.lost += run.lost();
    if (const auto ratio = run.loss())
      ratios.push_back(*ratio);
    else
      ++loss.mixed;
  }
  if (loss.mixed > 0 || runs.empty()) return loss;
  const MeanInterval interval = mean_interval(ratios);
  loss.ratio = interval.mean;
  if (loss.lost == 0) {
    if (loss.offered != 0) loss.upper_of_none = upper_of_none(loss.offered);
  } else if (interval.half_width) {
    loss.low = std::max(0.0, interval.mean - *interval.half_width);
    loss.high = std::min(1.0, interval.mean + *interval.half_width);
  }
  return loss;
}

}  // namespace parshall::tester
