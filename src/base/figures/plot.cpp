// SPDX-License-Identifier: Apache-2.0
#include "base/figures/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/suggestion.hpp"

namespace parshall::lab {
namespace {

std::optional<double> number(const Cell& cell) {
  if (const auto* value = std::get_if<double>(&cell)) return *value;
  if (const auto* value = std::get_if<std::uint64_t>(&cell)) return static_cast<double>(*value);
  return std::nullopt;
}

std::string text(const Cell& cell) {
  if (const auto* value = std::get_if<std::string>(&cell)) return *value;
  const auto value = number(cell);
  return value ? fmt::format("{}", *value) : "";
}

std::optional<std::size_t> find(std::span<const Column> columns, std::string_view name) {
  const auto found = std::ranges::find(columns, name, &Column::name);
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

bool varies(std::span<const Part> parts, std::size_t column) {
  return std::ranges::any_of(parts,
                             [&](const Part& part) { return part.rows[0][column] != parts.front().rows[0][column]; });
}

/// Indices of the columns of a plot.
struct Axes {
  std::optional<std::size_t> x;
  std::size_t y = 0, name = 0;
  std::optional<std::size_t> low, high;
};

Result<Axes> choose_axes(std::span<const Column> columns, std::span<const Part> parts, const PlotChoice& choice) {
  Axes axes;
  std::string known;
  for (const Column& column : columns) known += fmt::format("{}{}", known.empty() ? "" : ", ", column.name);
  for (const std::string& name : {choice.x, choice.y})
    if (!name.empty() && !find(columns, name))
      return Error{fmt::format("no column \"{}\"{}", name, suggestion(name, columns, &Column::name))};
  for (std::size_t c = 0; c < columns.size() && choice.x.empty() && !axes.x; ++c)
    if (columns[c].common && number(parts.front().rows[0][c]) && varies(parts, c)) axes.x = c;
  if (!choice.x.empty()) axes.x = find(columns, choice.x);
  const auto with_interval = std::ranges::find_if(
      columns, [&](const Column& column) { return find(columns, fmt::format("low_{}", column.name)).has_value(); });
  if (choice.y.empty() && with_interval == columns.end()) return Error{"name the column to draw, one of: " + known};
  axes.y = choice.y.empty() ? static_cast<std::size_t>(with_interval - columns.begin()) : *find(columns, choice.y);
  axes.low = find(columns, fmt::format("low_{}", columns[axes.y].name));
  axes.high = find(columns, fmt::format("high_{}", columns[axes.y].name));
  while (axes.name < columns.size() &&
         (columns[axes.name].common || !std::holds_alternative<std::string>(parts.front().rows[0][axes.name])))
    ++axes.name;
  return axes;
}

/// Returns a row's label: its name, and the values of the common columns that vary, apart from x. If x is not a common
/// column, the parts are the points of one line.
std::string series_name(std::span<const Column> columns, std::span<const Part> parts, const std::vector<Cell>& row,
                        const Axes& axes) {
  std::string name = axes.name < columns.size() ? text(row[axes.name]) : "";
  if (axes.x && !columns[*axes.x].common) return name;
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (columns[c].common && c != axes.x && !columns[c].head.empty() && varies(parts, c))
      name += fmt::format("{}{} {}", name.empty() ? "" : ", ", columns[c].head, text(row[c]));
  return name;
}

bool bars(const Plot& plot) {
  return std::ranges::all_of(plot.series,
                             [](const Series& series) { return series.points.size() == 1 && series.points[0].x == 0; });
}

/// Returns whether a range is so wide that a logarithmic axis shows it better.
bool wide(const Plot& plot, double Point::*at) {
  double least = 1e300, most = 0;
  for (const Series& series : plot.series)
    if (series.style == Series::Style::marks)
      for (const Point& point : series.points) least = std::min(least, point.*at), most = std::max(most, point.*at);
  return least > 0 && most / least > 30;
}

std::string data_of(const Plot& plot) {
  std::string script;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    script += fmt::format("$d{} << EOD\n", i);
    for (const Point& point : plot.series[i].points)
      script +=
          fmt::format("{} {} {} {}\n", bars(plot) ? static_cast<double>(i) : point.x, point.y, point.low, point.high);
    script += "EOD\n";
  }
  return script;
}

std::string script_of(const Plot& plot) {
  std::string script = fmt::format("set title {}\nset ylabel {}\nset grid\n", quoted(plot.title), quoted(plot.y_label));
  script += data_of(plot);
  std::string curves;
  if (bars(plot)) {
    std::string ticks;
    for (std::size_t i = 0; i < plot.series.size(); ++i) {
      ticks += fmt::format("{}{} {}", i == 0 ? "" : ", ", quoted(plot.series[i].name), i);
      curves += fmt::format("{}$d{} using 1:2:3:4:(0.7) with boxerrorbars notitle", i == 0 ? "" : ", ", i);
    }
    script +=
        "set style fill solid 0.5\nset yrange [0:*]\nset offsets 0.3, 0.3, 0, 0\nset xtics rotate by 35 right\nset "
        "xtics (" +
        ticks + ")\n";
  } else {
    constexpr std::string_view kStyles[] = {"1:2:3:4 with yerrorlines", "1:2 with lines", "1:2 with histeps"};
    for (std::size_t i = 0; i < plot.series.size(); ++i)
      curves += fmt::format("{}$d{} using {} title {}", i == 0 ? "" : ", ", i,
                            kStyles[static_cast<std::size_t>(plot.series[i].style)], quoted(plot.series[i].name));
    script += fmt::format("set xlabel {}\nset key outside right\n", quoted(plot.x_label));
    if (wide(plot, &Point::x)) script += "set logscale x 2\n";
    if (wide(plot, &Point::y)) script += "set logscale y 10\n";
  }
  return script + "plot " + curves + "\n";
}

/// Returns gnuplot's terminal for a file's ending; empty for an unknown one.
std::string_view terminal_of(const std::string& path) {
  if (path.ends_with(".svg")) return "svg";
  if (path.ends_with(".png")) return "pngcairo";
  return "";
}

}  // namespace

Result<Plot> plot_of(std::string_view experiment, std::span<const Column> columns, std::span<const Part> parts,
                     const PlotChoice& choice) {
  if (parts.empty()) return Error{"no measured value can be drawn"};
  const auto axes = choose_axes(columns, parts, choice);
  if (!axes) return axes.error();
  Plot plot{.title = std::string(experiment),
            .x_label = axes->x ? std::string(columns[*axes->x].name) : "",
            .y_label = std::string(columns[axes->y].name),
            .series = {}};
  for (const Part& part : parts)
    for (const auto& row : part.rows) {
      const auto y = number(row[axes->y]), x = axes->x ? number(row[*axes->x]) : 0;
      if (!x || !y) continue;
      const std::string name = series_name(columns, parts, row, *axes);
      auto series = std::ranges::find(plot.series, name, &Series::name);
      if (series == plot.series.end()) series = plot.series.insert(series, {name, {}});
      series->points.push_back({*x, *y, axes->low ? number(row[*axes->low]).value_or(*y) : *y,
                                axes->high ? number(row[*axes->high]).value_or(*y) : *y});
    }
  for (Series& series : plot.series) std::ranges::stable_sort(series.points, {}, &Point::x);
  if (plot.series.empty()) return Error{fmt::format("column {} has no numbers to draw", plot.y_label)};
  return plot;
}

std::optional<Error> cannot_draw(const std::string& path) {
  if (terminal_of(path).empty()) return Error{fmt::format("{}: a plot must be a .svg or .png file", path)};
  if (std::system("command -v gnuplot >/dev/null") != 0)
    return Error{"plots are drawn by gnuplot, which is not installed (Debian: apt-get install gnuplot-nox)"};
  return std::nullopt;
}

/// Quotes with single quotes, since gnuplot runs text between backquotes inside double quotes.
std::string quoted(const std::string& words) {
  std::string safe = "'";
  for (const char c : words) safe += c == '\'' ? std::string("''") : std::string(1, c == '\n' ? ' ' : c);
  return safe + "'";
}

std::optional<Error> draw(const Plot& plot, const std::string& path) { return draw_script(script_of(plot), path); }

std::optional<Error> draw_script(const std::string& body, const std::string& path, PlotSize size) {
  if (auto error = cannot_draw(path)) return error;
  const std::string script = fmt::format("set terminal {} noenhanced size {},{}\nset output {}\n{}", terminal_of(path),
                                         size.width, size.height, quoted(path), body);
  std::FILE* gnuplot = ::popen("gnuplot >/dev/null", "w");
  const bool wrote = gnuplot != nullptr && std::fwrite(script.data(), 1, script.size(), gnuplot) == script.size();
  const bool drawn = gnuplot != nullptr && ::pclose(gnuplot) == 0;
  if (wrote && drawn) return std::nullopt;
  return Error{fmt::format("{}: gnuplot could not draw it", path)};
}

}  // namespace parshall::lab
