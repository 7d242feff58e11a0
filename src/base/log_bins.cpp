// SPDX-License-Identifier: Apache-2.0
#include "base/log_bins.hpp"

namespace parshall {

LogBins::LogBins(double relative_error, int value_bits) : largest_((std::uint64_t{1} << value_bits) - 1) {
  // The parabola is steepest against the logarithm at the start of an octave. There a bin is 3 / (4 bins) of its lowest
  // value wide. Curvature and rounding to integers change that slightly, so the loop checks the real bins.
  const double estimate = 3 * (1 - relative_error) / (8 * relative_error);
  auto bins_per_octave = static_cast<std::uint64_t>(std::max(1.0, estimate));
  do {
    lay_out(bins_per_octave++);
  } while (take_reports() > relative_error);
}

void LogBins::lay_out(std::uint64_t bins_per_octave) noexcept {
  const int single_bits = static_cast<int>(std::bit_width(bins_per_octave)) - 1;
  bins_per_octave_ = bins_per_octave;
  single_ = std::uint64_t{1} << single_bits;
  first_octave_ = single_ - static_cast<std::uint64_t>(single_bits) * bins_per_octave;
}

/// Returns each bin's lowest value (for an empty bin, the next value above), then one past the largest value.
std::vector<std::uint64_t> LogBins::lowest_values() const {
  std::vector<std::uint64_t> lowest;
  std::uint64_t value = 0;
  for (std::size_t bin = 0; bin <= bin_of(largest_); ++bin) {
    std::uint64_t below = largest_;
    while (value < below) {
      const std::uint64_t middle = value + (below - value) / 2;
      if (bin_of(middle) < bin)
        value = middle + 1;
      else
        below = middle;
    }
    lowest.push_back(value);
  }
  lowest.push_back(largest_ + 1);
  return lowest;
}

/// Sets what each bin reports and returns the worst relative error.
double LogBins::take_reports() {
  const std::vector<std::uint64_t> lowest = lowest_values();
  report_.clear();
  double worst = 0;
  for (std::size_t bin = 0; bin + 1 < lowest.size(); ++bin) {
    const auto low = static_cast<double>(lowest[bin]);
    const auto high = std::max(low, static_cast<double>(lowest[bin + 1]) - 1);
    report_.push_back(low == high ? low : 2 * low * high / (low + high));
    if (low < high) worst = std::max(worst, (high - low) / (high + low));
  }
  return worst;
}

}  // namespace parshall
