// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/figures/figures.hpp"
#include "base/result.hpp"

namespace parshall::lab {

struct Point {
  double x, y, low, high;  ///< low and high are y where there is no interval
};
struct Series {
  enum class Style : std::uint8_t { marks, line, steps };

  std::string name;
  std::vector<Point> points;
  Style style = Style::marks;  ///< marks with their intervals, a curve, or a histogram
};

/// Chart: lines over a number or, where every series has a single point at 0, bars side by side.
struct Plot {
  std::string title, x_label, y_label;
  std::vector<Series> series;
};

/// Columns to draw, by name. An empty `x` selects the first common column that varies, an empty `y` the first column
/// with an interval.
struct PlotChoice {
  std::string x, y;
};

/// Makes a plot of the figures of an experiment. The first column of text and the other common columns that vary make
/// the series. An error names the columns that exist.
Result<Plot> plot_of(std::string_view experiment, std::span<const Column> columns, std::span<const Part> parts,
                     const PlotChoice& choice);

/// Draws into an SVG or PNG file, depending on its ending. Fails where gnuplot is not installed.
std::optional<Error> draw(const Plot& plot, const std::string& path);

/// Size in pixels.
struct PlotSize {
  int width = 900, height = 560;
};

/// Draws a gnuplot script into an SVG or PNG file. The script sets neither terminal nor output.
std::optional<Error> draw_script(const std::string& script, const std::string& path, PlotSize size = {});

/// Quotes text for a gnuplot script.
std::string quoted(const std::string& words);

/// Returns the error that draw() would give for this path, as far as it is known before there is a plot.
std::optional<Error> cannot_draw(const std::string& path);

}  // namespace parshall::lab
