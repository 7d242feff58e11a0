// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/statistics/moments.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

namespace parshall {
namespace {

enum class Kind : std::uint8_t { last, min, max, mean, sd, skewness, kurtosis };

constexpr std::array<StatisticKind, 7> kMoments{{
    {"last", "last", "last sample", true, true},
    {"min", "min", "minimum", true, true},
    {"max", "max", "maximum", true, true},
    {"mean", "mean", "arithmetic mean", true},
    {"sd", "sd", "sample standard deviation (n - 1)", true},
    {"skewness", "skewness", "skewness g1", false},
    {"kurtosis", "kurtosis", "excess kurtosis g2 (normal: 0)", false},
}};

// A row is a count followed by the requested parts. `n` includes the sample being added.

struct Last {
  std::uint64_t last;
  void add(std::uint64_t sample, std::uint64_t /*n*/) noexcept { last = sample; }
  void merge(const Last& /*from*/, std::uint64_t /*n*/, std::uint64_t /*from_n*/) noexcept {}
};

struct Extremes {
  std::uint64_t min, max;
  void add(std::uint64_t sample, std::uint64_t n) noexcept {
    min = n == 1 ? sample : std::min(min, sample);
    max = std::max(max, sample);
  }
  void merge(const Extremes& from, std::uint64_t n, std::uint64_t from_n) noexcept {
    if (from_n == 0) return;
    min = n == 0 ? from.min : std::min(min, from.min);
    max = std::max(max, from.max);
  }
};

struct Sum {
  std::uint64_t sum;
  void add(std::uint64_t sample, std::uint64_t /*n*/) noexcept { sum += sample; }
  void merge(const Sum& from, std::uint64_t /*n*/, std::uint64_t /*from_n*/) noexcept { sum += from.sum; }
};

/// Mean and the sums of the 2nd to kOrder-th powers of the distances to it.
template <int kOrder>
struct Central {
  double mean;
  std::array<double, kOrder - 1> power_sum;

  void add(std::uint64_t sample, std::uint64_t count) noexcept {
    const auto n = static_cast<double>(count);
    const double delta = static_cast<double>(sample) - mean;
    const double step = delta / n;
    const double square = delta * step * (n - 1);
    double& m2 = power_sum[0];
    mean += step;
    if constexpr (kOrder >= 4) {
      power_sum[2] += square * step * step * (n * n - 3 * n + 3) + 6 * step * step * m2 - 4 * step * power_sum[1];
    }
    if constexpr (kOrder >= 3) power_sum[1] += square * step * (n - 2) - 3 * step * m2;
    m2 += square;
  }

  void merge(const Central& from, std::uint64_t into_count, std::uint64_t from_count) noexcept {
    if (from_count == 0) return;
    const auto a = static_cast<double>(into_count), b = static_cast<double>(from_count);
    const double n = a + b;
    const double delta = from.mean - mean;
    const double step = delta / n;
    const double m2 = power_sum[0], from_m2 = from.power_sum[0];
    if constexpr (kOrder >= 4) {
      power_sum[2] += from.power_sum[2] + delta * step * step * step * a * b * (a * a - a * b + b * b) +
                      6 * step * step * (a * a * from_m2 + b * b * m2) +
                      4 * step * (a * from.power_sum[1] - b * power_sum[1]);
    }
    if constexpr (kOrder >= 3) {
      power_sum[1] += from.power_sum[1] + delta * step * step * a * b * (a - b) + 3 * step * (a * from_m2 - b * m2);
    }
    power_sum[0] = m2 + from_m2 + delta * step * a * b;
    mean += step * b;
  }
};

template <class... Parts>
struct Row : Parts... {
  std::uint64_t count;

  void add([[maybe_unused]] std::uint64_t sample) noexcept {
    ++count;
    (Parts::add(sample, count), ...);
  }
  void merge(const Row& from) noexcept {
    (Parts::merge(from, count, from.count), ...);
    count += from.count;
  }
};
static_assert(sizeof(Row<Sum>) == 16 && sizeof(Row<Last, Extremes, Central<4>>) == 64);

/// Returns the standardised population moment of the given order; nullopt if the variable never varied.
template <class R>
std::optional<double> standardised(const R& row, int order) noexcept {
  const auto n = static_cast<double>(row.count);
  const double variance = row.power_sum[0] / n;
  if (!(variance > 0)) return std::nullopt;
  return row.power_sum[static_cast<std::size_t>(order) - 2] / n / std::pow(variance, order / 2.0);
}

template <class R>
std::optional<double> value(const R& row, Kind kind) noexcept {
  if (row.count == 0) return std::nullopt;
  const auto n = static_cast<double>(row.count);
  if constexpr (requires { row.last; }) {
    if (kind == Kind::last) return static_cast<double>(row.last);
  }
  if constexpr (requires { row.min; }) {
    if (kind == Kind::min) return static_cast<double>(row.min);
    if (kind == Kind::max) return static_cast<double>(row.max);
  }
  if constexpr (requires { row.sum; }) {
    if (kind == Kind::mean) return static_cast<double>(row.sum) / n;
  }
  if constexpr (requires { row.power_sum; }) {
    if (kind == Kind::mean) return row.mean;
    if (kind == Kind::sd) return row.count < 2 ? std::nullopt : std::optional(std::sqrt(row.power_sum[0] / (n - 1)));
    if constexpr (std::tuple_size_v<decltype(row.power_sum)> >= 2) {
      if (kind == Kind::skewness) return standardised(row, 3);
    }
    if constexpr (std::tuple_size_v<decltype(row.power_sum)> >= 3) {
      if (const auto kurtosis = standardised(row, 4); kind == Kind::kurtosis && kurtosis) return *kurtosis - 3;
    }
  }
  return std::nullopt;
}

struct Asked {
  Variable variable;
  std::vector<Kind> kinds;
  std::vector<Column> columns;
};

template <class... Parts>
class Moments final : public Statistic {
 public:
  explicit Moments(Asked asked) : asked_(std::move(asked)) {}

  Variable variable() const noexcept override { return asked_.variable; }
  std::size_t row_bytes() const noexcept override { return sizeof(R); }
  std::span<const Column> columns() const noexcept override { return asked_.columns; }

  void update(const SampleBatch& batch) const noexcept override {
    for (std::size_t i = 0; i < batch.size(); ++i) reinterpret_cast<R*>(batch.state(i))->add(batch.samples[i]);
  }

  void read(const std::byte* row, std::span<std::optional<double>> out) const noexcept override {
    for (std::size_t i = 0; i < asked_.kinds.size(); ++i)
      out[i] = value(*reinterpret_cast<const R*>(row), asked_.kinds[i]);
  }

  bool mergeable() const noexcept override { return !(std::is_same_v<Parts, Last> || ...); }
  void merge(std::byte* into, const std::byte* from) const noexcept override {
    reinterpret_cast<R*>(into)->merge(*reinterpret_cast<const R*>(from));
  }

 private:
  using R = Row<Parts...>;
  static_assert(std::is_trivially_copyable_v<R>);
  Asked asked_;
};

/// Returns the highest power of the samples that a measure needs.
int order_of(Kind kind) noexcept { return std::max(0, static_cast<int>(kind) - static_cast<int>(Kind::max)); }

template <class... Parts>
std::unique_ptr<Statistic> with_order(Asked asked, int order) {
  switch (order) {
    case 0:
      return std::make_unique<Moments<Parts...>>(std::move(asked));
    case 1:
      return std::make_unique<Moments<Parts..., Sum>>(std::move(asked));
    case 2:
      return std::make_unique<Moments<Parts..., Central<2>>>(std::move(asked));
    case 3:
      return std::make_unique<Moments<Parts..., Central<3>>>(std::move(asked));
    default:
      return std::make_unique<Moments<Parts..., Central<4>>>(std::move(asked));
  }
}

std::vector<std::unique_ptr<Statistic>> make_moments(Variable variable, std::span<const std::string> whats,
                                                     const StatisticOptions& /*options*/) {
  Asked asked{variable, {}, {}};
  bool last = false, extremes = false;
  int order = 0;
  for (const std::string& what : whats) {
    const StatisticKind* const known = kind_named(kMoments, what);
    const auto kind = static_cast<Kind>(known - kMoments.data());
    last |= kind == Kind::last;
    extremes |= kind == Kind::min || kind == Kind::max;
    order = std::max(order, order_of(kind));
    asked.kinds.push_back(kind);
    asked.columns.push_back(make_column(variable, what, *known));
  }
  std::vector<std::unique_ptr<Statistic>> made;
  if (last && extremes)
    made.push_back(with_order<Last, Extremes>(std::move(asked), order));
  else if (last)
    made.push_back(with_order<Last>(std::move(asked), order));
  else if (extremes)
    made.push_back(with_order<Extremes>(std::move(asked), order));
  else
    made.push_back(with_order<>(std::move(asked), order));
  return made;
}

}  // namespace

constinit const StatisticFamily kMomentsFamily{
    kMoments, /*of_amounts=*/true, [](std::string_view what) { return asked_of(kMoments, what); }, make_moments};

}  // namespace parshall
