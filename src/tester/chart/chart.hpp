// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tester/chart/axis.hpp"

namespace parshall::tester {

enum class Mark : std::uint8_t { none, disc, ring, triangle, open_triangle };
enum class Stroke : std::uint8_t { none, straight, steps };

struct ChartPoint {
  double x = 0, y = 0;
  std::optional<double> low, high;  ///< of y: a bar from the one to the other
  std::string tip;                  ///< shown where somebody points at the mark
};

struct ChartSeries {
  std::string name;   ///< in the key; empty: it has no entry there
  std::string style;  ///< its elements' class: what they belong to says of which colour that is
  Mark mark = Mark::disc;
  Stroke stroke = Stroke::none;
  std::vector<ChartPoint> points;
};

/// A line across the chart, and a band around it.
struct ChartLevel {
  enum class Across : std::uint8_t { x, y };  ///< of which axis the value is

  std::string name, style;
  double value = 0;
  std::optional<double> low, high;
  Across of = Across::y;
};

struct Chart {
  std::string title;  ///< read out; not drawn
  AxisPlan x, y;
  std::vector<ChartSeries> series;
  std::vector<ChartLevel> levels;
  int width = 560, height = 340;  ///< pixels, where it is not made to fit
};

/// The chart as an SVG element, to stand in a page. Points whose values are not finite, or that a logarithmic axis does
/// not have, are left out, and interrupt their line. Lines and marks are of the class's `color`.
std::string svg_of(const Chart& chart);

/// Rules of CSS that charts need; colours are `--ink`, `--faint` (text and grid) and those of the classes.
std::string_view chart_style() noexcept;

}  // namespace parshall::tester
