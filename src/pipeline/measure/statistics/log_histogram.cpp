// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/statistics/log_histogram.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include "base/log_bins.hpp"
#include "base/prefetch.hpp"
#include "pipeline/measure/statistics/quantiles.hpp"

namespace parshall {

namespace {

class LogHistogram final : public Statistic {
 public:
  LogHistogram(Variable variable, std::vector<AskedQuantile> asked, double relative_error)
      : variable_(variable),
        bins_(relative_error, variable == Variable::size || variable == Variable::ip_size ? kSizeBits : kTimeBits) {
    ascending_.resize(asked.size());
    std::iota(ascending_.begin(), ascending_.end(), std::size_t{0});
    std::ranges::sort(ascending_, {}, [&](std::size_t i) { return asked[i].probability; });
    for (AskedQuantile& quantile : asked) {
      probabilities_.push_back(quantile.probability);
      columns_.push_back(std::move(quantile.column));
    }
  }

  Variable variable() const noexcept override { return variable_; }
  std::size_t row_bytes() const noexcept override { return (bins_.count() * sizeof(Bin) + 7) / 8 * 8; }
  std::size_t state_bytes() const noexcept override { return (bins_.count() + 1 + 7) / 8 * 8; }
  std::size_t carry_bytes() const noexcept override { return row_bytes(); }
  bool has_carries(const std::byte* state) const noexcept override { return state[bins_.count()] != std::byte{0}; }
  std::span<const Column> columns() const noexcept override { return columns_; }

  void update(const SampleBatch& batch) const noexcept override {
    std::array<std::uint8_t*, kStatBatch> cells;
    const std::size_t n = std::min(batch.size(), cells.size());
    for (std::size_t i = 0; i < n; ++i) {
      cells[i] = reinterpret_cast<std::uint8_t*>(batch.state(i)) + bins_.bin_of(batch.samples[i]);
      prefetch_line(cells[i]);
    }
    for (std::size_t i = 0; i < n; ++i)
      if (++*cells[i] == 0) [[unlikely]]
        carry(batch, i, cells[i]);
  }

  void write_row(const std::byte* state, const std::byte* carries, std::byte* row) const noexcept override {
    auto* const bins = reinterpret_cast<Bin*>(row);
    for (std::size_t i = 0; i < bins_.count(); ++i) bins[i] = static_cast<Bin>(state[i]);
    if (!has_carries(state)) return;
    const auto* const carried = reinterpret_cast<const Bin*>(carries);
    for (std::size_t i = 0; i < bins_.count(); ++i) bins[i] += carried[i] * kCarry;
  }

  void read(const std::byte* row, std::span<std::optional<double>> out) const noexcept override {
    const auto* bins = reinterpret_cast<const Bin*>(row);
    const std::uint64_t total = std::accumulate(bins, bins + bins_.count(), std::uint64_t{0});
    std::uint64_t up_to_bin = bins[0];
    std::size_t bin = 0;
    for (const std::size_t i : ascending_) {
      out[i] = std::nullopt;
      if (total == 0) continue;
      const std::uint64_t rank = nearest_rank(probabilities_[i], total);
      while (up_to_bin < rank) up_to_bin += bins[++bin];
      out[i] = bins_.report(bin);
    }
  }

  bool mergeable() const noexcept override { return true; }

  void merge(std::byte* into, const std::byte* from) const noexcept override {
    const auto* theirs = reinterpret_cast<const Bin*>(from);
    const std::span<Bin> ours = bins_in(into);
    bool too_many = false;
    for (std::size_t i = 0; i < ours.size(); ++i) too_many |= ours[i] > kFullBin - theirs[i];
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const std::uint64_t sum = std::uint64_t{ours[i]} + theirs[i];
      ours[i] = static_cast<Bin>(too_many ? (sum >> 1) + (sum & 1) : sum);
    }
  }

 private:
  using Bin = std::uint32_t;
  static constexpr Bin kFullBin = std::numeric_limits<Bin>::max();
  static constexpr Bin kCarry = 256;    ///< samples in a carry
  static constexpr int kTimeBits = 40;  ///< for gaps and inter-arrival times: 18 minutes in ns
  static constexpr int kSizeBits = 32;  ///< covers every frame length

  std::span<Bin> bins_in(std::byte* row) const noexcept { return {reinterpret_cast<Bin*>(row), bins_.count()}; }

  /// Carries from a counter that has just come to kCarry, and so to 0.
  [[gnu::noinline]] void carry(const SampleBatch& batch, std::size_t i, std::uint8_t* cell) const noexcept {
    auto* const counters = reinterpret_cast<std::uint8_t*>(batch.state(i));
    auto* const carried = reinterpret_cast<Bin*>(batch.carries(i));
    if (std::exchange(counters[bins_.count()], std::uint8_t{1}) == 0) std::fill_n(carried, bins_.count(), Bin{0});
    const auto bin = static_cast<std::size_t>(cell - counters);
    if (carried[bin] == kFullBin / kCarry) {
      *cell = kCarry - 1;  // as before this sample
      halve(counters, carried);
      ++*cell;  // not 0: half of a full bin is even
    } else {
      ++carried[bin];
    }
  }
  void halve(std::uint8_t* counters, Bin* carried) const noexcept {
    for (std::size_t i = 0; i < bins_.count(); ++i) {
      const Bin bin = carried[i] * kCarry + counters[i], half = (bin >> 1) + (bin & 1);
      counters[i] = static_cast<std::uint8_t>(half % kCarry);
      carried[i] = half / kCarry;
    }
  }

  Variable variable_;
  LogBins bins_;
  std::vector<double> probabilities_;
  std::vector<std::size_t> ascending_;  ///< the columns, by probability
  std::vector<Column> columns_;
};

}  // namespace

std::unique_ptr<Statistic> make_log_histogram(Variable variable, std::vector<AskedQuantile> asked,
                                              double relative_error) {
  return std::make_unique<LogHistogram>(variable, std::move(asked), relative_error);
}

}  // namespace parshall
