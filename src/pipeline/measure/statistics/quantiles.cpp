// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/statistics/quantiles.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "pipeline/measure/statistics/log_histogram.hpp"
#include "pipeline/measure/statistics/p2_quantile.hpp"

namespace parshall {
namespace {

constexpr std::array<StatisticKind, 1> kQuantiles{{{"p<percentile>", "p99", "percentile", true}}};

double probability_of(std::string_view percent) noexcept {
  double value = 0;
  std::from_chars(percent.data(), percent.data() + percent.size(), value, std::chars_format::fixed);
  return value / 100;
}

/// Turns "099.50" into "99.5". Returns nullopt unless the text is digits with at most one point between them.
std::optional<std::string> canonical_percent(std::string_view text) {
  const std::size_t point = text.find('.');
  std::string whole(text.substr(0, point));
  std::string fraction(point == std::string_view::npos ? "0" : text.substr(point + 1));
  const auto is_digits = [](std::string_view part) {
    return !part.empty() && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
  };
  if (!is_digits(whole) || !is_digits(fraction)) return std::nullopt;
  whole.erase(0, std::min(whole.find_first_not_of('0'), whole.size() - 1));
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return fraction.empty() ? whole : whole + "." + fraction;
}

std::optional<AskedStatistic> find_quantile(std::string_view what) {
  if (!what.starts_with('p')) return std::nullopt;
  const auto percent = canonical_percent(what.substr(1));
  if (!percent) return std::nullopt;
  const double probability = probability_of(*percent);
  if (!(probability > 0 && probability < 1)) return std::nullopt;
  return AskedStatistic{"p" + *percent, &kQuantiles.front()};
}

std::vector<std::unique_ptr<Statistic>> make_quantiles(Variable variable, std::span<const std::string> whats,
                                                       const StatisticOptions& options) {
  std::vector<std::unique_ptr<Statistic>> made;
  std::vector<AskedQuantile> asked;
  for (const std::string& what : whats) {
    Column column = make_column(variable, what, kQuantiles.front());
    const double probability = probability_of(std::string_view(what).substr(1));
    if (options.quantiles == QuantileMethod::p2) {
      made.push_back(make_p2_quantile(variable, {probability, std::move(column)}));
    } else {
      asked.push_back({probability, std::move(column)});
    }
  }
  if (!asked.empty()) made.push_back(make_log_histogram(variable, std::move(asked), options.relative_error));
  return made;
}

}  // namespace

constinit const StatisticFamily kQuantileFamily{kQuantiles, /*of_amounts=*/true, find_quantile, make_quantiles};

}  // namespace parshall
