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
  std::optional<double> low, high;  ///< ends of an error bar for y
  std::string tip;                  ///< tooltip of the mark
};

struct ChartSeries {
  std::string name;   ///< name in the key; empty: no entry
  std::string style;  ///< CSS class of its elements, which determines their colour
  Mark mark = Mark::disc;
  Stroke stroke = Stroke::none;
  std::vector<ChartPoint> points;
};

/// A line across the chart, with a band around it.
struct ChartLevel {
  enum class Across : std::uint8_t { x, y };  ///< axis that the value belongs to

  std::string name, style;
  double value = 0;
  std::optional<double> low, high;
  Across of = Across::y;
};

struct Chart {
  std::string title;  ///< for screen readers; not drawn
  AxisPlan x, y;
  std::vector<ChartSeries> series;
  std::vector<ChartLevel> levels;
  int width = 560, height = 340;  ///< pixels, unless the page scales it
};

/// Returns the chart as an SVG element for a page. Points with values that are not finite, or that a logarithmic axis
/// does not have, are left out and interrupt their line. Lines and marks use the CSS class's `color`.
std::string svg_of(const Chart& chart);

/// Returns the CSS rules that charts need. Colours are `--ink`, `--faint` (text and grid) and those of the classes.
std::string_view chart_style() noexcept;

}  // namespace parshall::tester
