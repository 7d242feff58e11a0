// SPDX-License-Identifier: Apache-2.0
#include "compare/delay_counts.hpp"

#include <algorithm>

#include "base/nearest_rank.hpp"

namespace parshall {
namespace {

const LogBins& layout() {
  static const LogBins bins(DelayCounts::kRelativeError, 40);
  return bins;
}

}  // namespace

void DelayCounts::add(std::int64_t delay_ns) {
  const auto number =
      static_cast<std::uint32_t>(layout().bin_of(static_cast<std::uint64_t>(std::max<std::int64_t>(delay_ns, 0))));
  const auto bin = std::ranges::lower_bound(bins_, number, {}, &Bin::number);
  if (bin != bins_.end() && bin->number == number)
    ++bin->count;
  else
    bins_.insert(bin, {number, 1});
  ++count_;
  sum_ += delay_ns;
  least_ = std::min(least_, delay_ns);
  most_ = std::max(most_, delay_ns);
}

std::int64_t DelayCounts::percentile(double probability) const {
  const std::uint64_t rank = nearest_rank(probability, count_);
  if (rank >= count_) return most_;
  auto bin = bins_.begin();
  for (std::uint64_t up_to_bin = bin->count; up_to_bin < rank;) up_to_bin += (++bin)->count;
  return std::clamp(static_cast<std::int64_t>(layout().report(bin->number)), least_, most_);
}

Delays DelayCounts::summary() const {
  if (count_ == 0) return {};
  return {.packets = count_,
          .least = least_,
          .p50 = percentile(0.5),
          .p90 = percentile(0.9),
          .p99 = percentile(0.99),
          .most = most_,
          .mean = static_cast<double>(sum_) / static_cast<double>(count_),
          .samples = count_};
}

}  // namespace parshall
