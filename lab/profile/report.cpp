// SPDX-License-Identifier: Apache-2.0
#include "lab/profile/report.hpp"

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

}  // namespace parshall::lab
