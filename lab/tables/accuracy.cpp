// SPDX-License-Identifier: Apache-2.0
#include "lab/tables/accuracy.hpp"

#include <algorithm>
#include <cmath>

namespace parshall::lab {

double Accuracy::precision() const noexcept {
  return reported == 0 ? 1 : static_cast<double>(true_positives) / static_cast<double>(reported);
}
double Accuracy::recall() const noexcept {
  return positives == 0 ? 1 : static_cast<double>(true_positives) / static_cast<double>(positives);
}

EpochTruth::EpochTruth(const Epoch& epoch)
    : counts_(epoch.flows),
      reports_(true_reports(epoch.task, epoch.packets, epoch.flows)),
      threshold_(epoch.threshold) {
  for (const std::uint32_t flow : epoch.packets) ++counts_[flow];
}

Accuracy EpochTruth::judge(const Candidate& candidate) const {
  std::vector<std::uint64_t> counts(counts_.size());
  std::vector<std::uint8_t> reports(reports_.size());
  candidate.counts(counts);
  if (!by_counts()) candidate.reports(reports);
  Accuracy accuracy;
  for (std::size_t flow = 0; flow < counts_.size(); ++flow) {
    const std::uint64_t truth = counts_[flow], count = counts[flow];
    const bool positive = by_counts() ? truth > threshold_ : reports_[flow] != 0;
    const bool reported = by_counts() ? count > threshold_ : reports[flow] != 0;
    accuracy.positives += positive;
    accuracy.reported += reported;
    accuracy.true_positives += positive && reported;
    if (truth == 0) continue;
    ++accuracy.flows;
    accuracy.missing += count == 0;
    accuracy.too_high += count > truth;
    accuracy.count_error +=
        std::abs(static_cast<double>(count) - static_cast<double>(truth)) / static_cast<double>(truth);
  }
  if (accuracy.flows != 0) accuracy.count_error /= static_cast<double>(accuracy.flows);
  return accuracy;
}

}  // namespace parshall::lab
