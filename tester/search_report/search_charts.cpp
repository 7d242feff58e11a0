// SPDX-License-Identifier: Apache-2.0
#include "tester/search_report/search_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tester/chart/number_text.hpp"
#include "tester/search/trial_log.hpp"
#include "tester/search_report/report_values.hpp"

namespace parshall::tester {
namespace {

/// Kind of trial in a goal's chart.
struct TrialKind {
  bool is_full, is_low_loss;
  const char *name, *style;
  Mark mark;
};
constexpr TrialKind kKinds[] = {
    {true, true, "full length, within the loss ratio", "kept", Mark::disc},
    {true, false, "full length, above", "lost", Mark::triangle},
    {false, true, "short, within", "kept", Mark::ring},
    {false, false, "short, above", "lost", Mark::open_triangle},
};

const TrialKind& kind_of(const TrialOutcome& trial, const SearchGoal& goal) {
  const bool is_full = trial.duration_s >= goal.final_trial_s, is_low_loss = trial.loss_ratio() <= goal.loss_ratio;
  return *std::ranges::find_if(
      kKinds, [&](const TrialKind& kind) { return kind.is_full == is_full && kind.is_low_loss == is_low_loss; });
}

std::string tip_of(std::size_t number, const TrialOutcome& trial) {
  return fmt::format("trial {}: {} for {}, {} of {} received, {} lost", number, number_text(trial.load_pps, "pps", 6),
                     seconds_text(trial.duration_s), trial.received, std::max(trial.offered, trial.sent),
                     percent_text(trial.loss_ratio()));
}

/// Adds one series for each kind. `place` returns where a trial is drawn, by its number.
template <class Place>
void add_trials(Chart& chart, const SearchResult& search, const SearchGoal& goal, Place place) {
  for (const TrialKind& kind : kKinds) {
    ChartSeries series{.name = kind.name, .style = kind.style, .mark = kind.mark};
    for (std::size_t i = 0; i < search.trials.size(); ++i) {
      const TrialOutcome& trial = search.trials[i];
      if (&kind_of(trial, goal) != &kind) continue;
      const auto [x, y] = place(i, trial);
      series.points.push_back({.x = x, .y = y, .tip = tip_of(i + 1, trial)});
    }
    chart.series.push_back(std::move(series));
  }
}

/// Returns a logarithmic scale for a wide range of loads.
Scale scale_of(std::span<const TrialOutcome> trials) {
  if (trials.empty()) return Scale::linear;
  const auto [least, most] = std::ranges::minmax(trials, {}, &TrialOutcome::load_pps);
  return least.load_pps > 0 && most.load_pps > 8 * least.load_pps ? Scale::logarithmic : Scale::linear;
}

/// Returns true if the greatest value is so far above the least that the latter would lie on the axis.
bool is_far_below(std::span<const ChartSeries> all) {
  double least = INFINITY, most = 0;
  for (const ChartSeries& series : all)
    for (const ChartPoint& point : series.points)
      if (point.y > 0) least = std::min(least, point.y), most = std::max(most, point.y);
  return most > 20 * least;
}

/// Returns true if loads come near the ceiling; otherwise showing it would compress everything else.
bool shows_ceiling(std::span<const TrialOutcome> trials, double ceiling_pps) {
  return std::ranges::any_of(trials, [&](const TrialOutcome& trial) { return trial.load_pps > 0.5 * ceiling_pps; });
}

/// Adds both bounds after each trial; NaN if there is none.
void add_bounds(Chart& chart, const SearchResult& search, const SearchGoal& goal) {
  ChartSeries lower{.name = "relevant lower bound", .style = "kept", .mark = Mark::none, .stroke = Stroke::steps};
  ChartSeries upper{.name = "relevant upper bound", .style = "lost", .mark = Mark::none, .stroke = Stroke::steps};
  TrialLog log;
  bool has_lower = false, has_upper = false;
  for (std::size_t i = 0; i < search.trials.size(); ++i) {
    log.add(search.trials[i]);
    const RelevantBounds bounds = log.relevant_bounds(goal);
    const double x = static_cast<double>(i + 1);
    lower.points.push_back({.x = x, .y = bounds.lower_pps.value_or(NAN)});
    upper.points.push_back({.x = x, .y = bounds.upper_pps.value_or(NAN)});
    has_lower |= bounds.lower_pps.has_value();
    has_upper |= bounds.upper_pps.has_value();
  }
  // Extends the lines, so that the state after the last trial is visible.
  for (ChartSeries* bound : {&lower, &upper})
    if (!bound->points.empty())
      bound->points.push_back({.x = bound->points.back().x + 0.5, .y = bound->points.back().y});
  if (has_lower) chart.series.push_back(std::move(lower));
  if (has_upper) chart.series.push_back(std::move(upper));
}

/// Reduces a chart to what is near the final bounds, if that is less than a tenth of it. `load` is the coordinate of a
/// point that holds the load.
std::optional<Chart> near_bounds(Chart chart, const GoalResult& result, AxisPlan Chart::*axis,
                                 double ChartPoint::*load) {
  const auto lower = load_of(result.relevant_lower_bound), upper = load_of(result.relevant_upper_bound);
  if (!lower || !upper) return std::nullopt;
  const double apart = *upper - *lower;
  double least = INFINITY, most = 0;
  for (ChartSeries& series : chart.series)
    for (ChartPoint& point : series.points) {
      if (!std::isfinite(point.*load)) continue;
      least = std::min(least, point.*load);
      most = std::max(most, point.*load);
      // A line from far away begins where it comes near.
      if (point.*load < *lower - 3 * apart || point.*load > *upper + 3 * apart) point.*load = NAN;
    }
  if (most - least < 10 * apart) return std::nullopt;
  for (ChartSeries& series : chart.series)
    if (series.stroke == Stroke::none)
      std::erase_if(series.points, [&](const ChartPoint& point) { return !std::isfinite(point.*load); });
  chart.title += ", near these";
  (chart.*axis).scale = Scale::linear;
  return chart;
}

}  // namespace

Chart trials_chart(const SearchResult& search, std::size_t goal, double ceiling_pps) {
  const SearchGoal& wanted = search.goals[goal].goal;
  Chart chart{.title = fmt::format("Loads of the trials, and bounds of goal {}", wanted.name),
              .x = {.label = "trial", .whole = true},
              .y = {.label = "load (frames/s)", .scale = scale_of(search.trials)}};
  add_bounds(chart, search, wanted);
  add_trials(chart, search, wanted, [](std::size_t i, const TrialOutcome& trial) {
    return std::pair(static_cast<double>(i + 1), trial.load_pps);
  });
  if (shows_ceiling(search.trials, ceiling_pps))
    chart.levels.push_back({.name = "generator's ceiling", .style = "ceiling", .value = ceiling_pps});
  return chart;
}

Chart loss_chart(const SearchResult& search, std::size_t goal, double ceiling_pps) {
  const GoalResult& result = search.goals[goal];
  Chart chart{.title = fmt::format("Loss of trials over their loads, and goal {}", result.goal.name),
              .x = {.label = "load (frames/s)", .scale = scale_of(search.trials)},
              .y = {.label = "frames lost (%)", .scale = Scale::logarithmic_or_zero}};
  add_trials(chart, search, result.goal, [](std::size_t, const TrialOutcome& trial) {
    return std::pair(trial.load_pps, 100 * trial.loss_ratio());
  });
  chart.levels.push_back({.name = "goal's loss ratio", .style = "goal", .value = 100 * result.goal.loss_ratio});
  if (const auto lower = load_of(result.relevant_lower_bound))
    chart.levels.push_back({.name = "lower bound", .style = "kept", .value = *lower, .of = ChartLevel::Across::x});
  if (const auto upper = load_of(result.relevant_upper_bound))
    chart.levels.push_back({.name = "upper bound", .style = "lost", .value = *upper, .of = ChartLevel::Across::x});
  if (shows_ceiling(search.trials, ceiling_pps))
    chart.levels.push_back(
        {.name = "generator's ceiling", .style = "ceiling", .value = ceiling_pps, .of = ChartLevel::Across::x});
  return chart;
}

std::optional<Chart> last_trials_chart(const SearchResult& search, std::size_t goal) {
  return near_bounds(trials_chart(search, goal, INFINITY), search.goals[goal], &Chart::y, &ChartPoint::y);
}

std::optional<Chart> last_loss_chart(const SearchResult& search, std::size_t goal) {
  return near_bounds(loss_chart(search, goal, INFINITY), search.goals[goal], &Chart::x, &ChartPoint::x);
}

Chart repeats_chart(const SizeSearches& size, std::size_t goal) {
  const RepeatStatistics repeats = repeat_statistics(size.searches)[goal];
  Chart chart{.title = fmt::format("Goal {} in {} searches", repeats.goal, size.searches.size()),
              .x = {.label = "search", .whole = true},
              .y = {.label = "load (frames/s)"}};
  ChartSeries regular{.name = "throughput; bar: both bounds", .style = "kept", .mark = Mark::disc};
  ChartSeries irregular{.name = "irregular", .style = "lost", .mark = Mark::open_triangle};
  for (std::size_t i = 0; i < size.searches.size(); ++i) {
    const GoalResult& result = size.searches[i].goals[goal];
    const auto lower = load_of(result.relevant_lower_bound), upper = load_of(result.relevant_upper_bound);
    const std::optional<double> y = result.conditional_throughput_pps ? result.conditional_throughput_pps : upper;
    if (!y) continue;
    ChartSeries& series = result.irregular == Irregular::no ? regular : irregular;
    series.points.push_back(
        {.x = static_cast<double>(i + 1),
         .y = *y,
         .low = lower ? lower : y,
         .high = upper ? upper : y,
         .tip = fmt::format("search {}: {}, bounds {} and {}", i + 1, pps_text(result.conditional_throughput_pps),
                            pps_text(lower), pps_text(upper))});
  }
  chart.series = {std::move(regular), std::move(irregular)};
  if (const auto& spread = repeats.conditional_throughput_pps) {
    chart.levels.push_back({.name = "median", .style = "median", .value = spread->median});
    if (spread->half_width)
      chart.levels.push_back({.name = "mean and its 95 % interval",
                              .style = "goal",
                              .value = spread->mean,
                              .low = spread->mean - *spread->half_width,
                              .high = spread->mean + *spread->half_width});
  }
  return chart;
}

Chart sizes_chart(const SearchReport& report, SizeUnit unit) {
  const bool is_frames = unit == SizeUnit::frames;
  const auto in_unit = [&](double pps, const SizeSearches& size) {
    return is_frames ? pps : line_bps(pps, size.line_bytes);
  };
  Chart chart{.title = is_frames ? "Throughput over frame size, in frames" : "Throughput over frame size, on the line",
              .x = {.label = "frame size (bytes, with checksum)"},
              .y = {.label = is_frames ? "throughput (frames/s)" : "throughput on the line (bit/s)", .also = 0.0}};
  ChartSeries ceiling{
      .name = "generator's ceiling", .style = "ceiling", .mark = Mark::none, .stroke = Stroke::straight};
  for (const SizeSearches& size : report.sizes) {
    ceiling.points.push_back(
        {.x = static_cast<double>(chart.x.categories.size()), .y = in_unit(size.ceiling_pps, size)});
    chart.x.categories.push_back(size.size);
  }
  const std::vector<GoalRow> rows = goal_rows(report);
  for (std::size_t goal = 0; goal < report.goals.size(); ++goal) {
    ChartSeries series{.name = report.goals[goal].name,
                       .style = fmt::format("series{}", goal % 4),
                       .mark = goal % 2 == 0 ? Mark::disc : Mark::triangle,
                       .stroke = Stroke::straight};
    ChartSeries irregular{.name = series.name + ", irregular",
                          .style = series.style,
                          .mark = goal % 2 == 0 ? Mark::ring : Mark::open_triangle};
    for (const GoalRow& row : rows) {
      if (row.goal != series.name || !row.throughput_pps) continue;
      // Placed beside each other, since goals may have similar results.
      const double beside = 0.1 * (static_cast<double>(goal) - 0.5 * static_cast<double>(report.goals.size() - 1));
      ChartPoint point{.x = static_cast<double>(row.size - report.sizes.data()) + beside,
                       .y = in_unit(*row.throughput_pps, *row.size),
                       .tip = fmt::format("{}, size {}: {}; {}", row.goal, row.size->size, pps_text(row.throughput_pps),
                                          row.judgement)};
      if (row.lower_pps && row.upper_pps) {
        point.low = in_unit(*row.lower_pps, *row.size);
        point.high = in_unit(*row.upper_pps, *row.size);
      }
      (row.is_regular ? series : irregular).points.push_back(std::move(point));
    }
    chart.series.push_back(std::move(series));
    chart.series.push_back(std::move(irregular));
  }
  chart.series.push_back(std::move(ceiling));
  if (is_far_below(chart.series)) {
    chart.y.scale = Scale::logarithmic;
    chart.y.also.reset();
  }
  return chart;
}

}  // namespace parshall::tester
