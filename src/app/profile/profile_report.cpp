// SPDX-License-Identifier: Apache-2.0
#include "app/profile/profile_report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace parshall::lab {
namespace {

constexpr Column kColumns[] = {
    {"what", "what"},       {"ns", "ns"},           {"low_ns", "low"},
    {"high_ns", "high"},    {"mean_ns", "mean"},    {"samples", "samples"},
    {"dropped", "dropped"}, {"bic_more", "BIC", 0}, {"location_ns", "location"},
    {"shape", "shape"},     {"scale_ns", "scale"},
};

constexpr std::string_view kFamilies[] = {"Normal", "Weibull", "Gumbel"};
std::string_view name_of(RetrievalFamily family) { return kFamilies[static_cast<std::size_t>(family)]; }

std::vector<Cell> cells(const Timed& timed) {
  return {timed.what,
          timed.ns,
          timed.low_ns,
          timed.high_ns,
          cell_if(timed.mean_ns.has_value(), timed.mean_ns.value_or(0)),
          std::uint64_t{timed.samples},
          std::uint64_t{timed.dropped},
          {},
          {},
          {},
          {}};
}

void add_fits(std::string_view of, const TimedRetrieval& retrieval, Part& part) {
  for (const Fit& fit : retrieval.fits) {
    const RetrievalModel& model = fit.model;
    const bool has_shape = model.family == RetrievalFamily::weibull;
    part.rows.push_back({fmt::format("{} as {}", of, name_of(model.family)),
                         model.quantile(0.5),
                         {},
                         {},
                         model.mean(),
                         {},
                         {},
                         fit.bic - retrieval.fits.front().bic,
                         cell_if(!has_shape, model.location_or_shape),
                         cell_if(has_shape, model.location_or_shape),
                         model.scale});
  }
}

/// Draws a histogram up to the value that 199 of 200 samples do not exceed.
void draw_retrieval(const std::string& of, const TimedRetrieval& retrieval, Plot& plot) {
  constexpr std::size_t kBins = 80, kSteps = 240;
  std::vector<double> sorted = retrieval.samples_ns;
  std::ranges::sort(sorted);
  const double low = sorted.front(), high = std::max(sorted[sorted.size() - 1 - sorted.size() / 200], low * 1.01);
  const double width = (high - low) / kBins;
  Series& histogram = plot.series.emplace_back();
  histogram.name = of;
  histogram.style = Series::Style::steps;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    const double from = low + width * static_cast<double>(bin);
    const auto count = std::ranges::lower_bound(sorted, from + width) - std::ranges::lower_bound(sorted, from);
    const double density = static_cast<double>(count) / (static_cast<double>(sorted.size()) * width);
    histogram.points.push_back({from + width / 2, density, density, density});
  }
  for (const Fit& fit : retrieval.fits) {
    Series& curve = plot.series.emplace_back();
    curve.name = fmt::format("{}, {}", of, name_of(fit.model.family));
    curve.style = Series::Style::line;
    const double step = (high - low) / kSteps;
    for (std::size_t i = 0; i <= kSteps; ++i) {
      const double at = low + step * static_cast<double>(i);
      const double density = (fit.model.cdf(at + step / 2) - fit.model.cdf(at - step / 2)) / step;
      curve.points.push_back({at, density, density, density});
    }
  }
}

}  // namespace

std::span<const Column> profile_columns() noexcept { return kColumns; }

Part profile_part(const ProfileFigures& figures) {
  Part part;
  for (const Timed& timed : figures.timed) part.rows.push_back(cells(timed));
  add_fits("in cache", figures.cached, part);
  add_fits("from memory", figures.uncached, part);
  for (const std::string& note : figures.notes)
    part.verdict += fmt::format("{}{}", part.verdict.empty() ? "" : "\n", note);
  return part;
}

Plot profile_plot(const ProfileFigures& figures) {
  Plot plot{.title = "Time to find a flow, one at a time", .x_label = "ns", .y_label = "density, 1/ns", .series = {}};
  draw_retrieval("in cache", figures.cached, plot);
  draw_retrieval("from memory", figures.uncached, plot);
  return plot;
}

}  // namespace parshall::lab
