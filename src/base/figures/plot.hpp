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
  Style style = Style::marks;  ///< marks, with their intervals; a curve; or a histogram
};

/// Lines over a number, or, where every series has a single point at 0, bars side by side.
struct Plot {
  std::string title, x_label, y_label;
  std::vector<Series> series;
};

/// Columns to draw, by name; what is empty is chosen: for x the first common column that varies, for y the first with
/// an interval.
struct PlotChoice {
  std::string x, y;
};

/// Makes a plot of the figures of an experiment. A series is what the rows' first column of text says, and what else
/// varies among the common columns. The error says which columns there are.
Result<Plot> plot_of(std::string_view experiment, std::span<const Column> columns, std::span<const Part> parts,
                     const PlotChoice& choice);

/// Draws into an SVG or PNG file, by its ending. With gnuplot: fails where that is not installed.
std::optional<Error> draw(const Plot& plot, const std::string& path);

/// Pixels.
struct PlotSize {
  int width = 900, height = 560;
};

/// Draws what a script for gnuplot says; likewise. It sets neither terminal nor output.
std::optional<Error> draw_script(const std::string& script, const std::string& path, PlotSize size = {});

/// Text for a script.
std::string quoted(const std::string& words);

/// Whether draw() could write there, as far as can be said before there is anything to draw.
std::optional<Error> cannot_draw(const std::string& path);

}  // namespace parshall::lab
