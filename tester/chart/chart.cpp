// SPDX-License-Identifier: Apache-2.0
#include "tester/chart/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "tester/chart/markup.hpp"

namespace parshall::tester {
namespace {

constexpr double kCharWidth = 6.4, kLineHeight = 18, kTickLength = 4;

double text_width(std::string_view text) {
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  return kCharWidth * static_cast<double>(std::ranges::count_if(text, begins));
}

/// Cuts a text to the width, with an ellipsis.
std::string cut_to(const std::string& text, double width) {
  if (text_width(text) <= width) return text;
  const auto room = static_cast<std::size_t>(std::max(0.0, width / kCharWidth - 1));
  std::size_t bytes = 0;
  for (std::size_t chars = 0; bytes < text.size(); ++bytes)
    if ((static_cast<unsigned char>(text[bytes]) & 0xC0) != 0x80 && chars++ == room) break;
  return text.substr(0, bytes) + "\u2026";
}

/// Entry of the key.
struct KeyEntry {
  std::string name, style;
  Mark mark = Mark::none;
  bool line = false, dashed = false;
  double x = 0, y = 0;

  double width() const { return 26 + text_width(name) + 14; }
};

class Drawing {
 public:
  explicit Drawing(const Chart& chart);
  std::string svg();

 private:
  template <class... Values>
  void put(fmt::format_string<Values...> text, Values&&... values) {
    fmt::format_to(std::back_inserter(svg_), text, std::forward<Values>(values)...);
  }
  std::vector<double> values(double ChartPoint::*of, ChartLevel::Across across) const;
  void place_key();
  std::optional<double> x(double value) const;
  std::optional<double> y(double value) const;
  void draw_frame();
  void draw_level(const ChartLevel& level);
  void draw_line(const ChartSeries& series);
  void draw_points(const ChartSeries& series);
  void draw_mark(Mark mark, double at_x, double at_y, const std::string& tip);
  void draw_key();
  bool is_empty() const;

  const Chart& chart_;
  Axis y_axis_, x_axis_;
  std::vector<KeyEntry> key_;
  double left_ = 0, right_ = 0, top_ = 0, bottom_ = 0;  ///< limits of the space within the axes
  std::string svg_;
};

Drawing::Drawing(const Chart& chart)
    : chart_(chart),
      y_axis_(chart.y, values(&ChartPoint::y, ChartLevel::Across::y), static_cast<std::size_t>(chart.height / 45)),
      x_axis_(chart.x, values(&ChartPoint::x, ChartLevel::Across::x), static_cast<std::size_t>(chart.width / 75)) {
  double widest = 0;
  for (const Tick& tick : y_axis_.ticks()) widest = std::max(widest, text_width(tick.text));
  left_ = 26 + widest + 8;
  right_ = chart.width - 18;
  bottom_ = chart.height - 42;
  place_key();
}

std::vector<double> Drawing::values(double ChartPoint::*of, ChartLevel::Across across) const {
  std::vector<double> all;
  const bool is_y = across == ChartLevel::Across::y;
  for (const ChartSeries& series : chart_.series)
    for (const ChartPoint& point : series.points) {
      all.push_back(point.*of);
      if (is_y && point.low) all.push_back(*point.low);
      if (is_y && point.high) all.push_back(*point.high);
    }
  for (const ChartLevel& level : chart_.levels) {
    if (level.of != across) continue;
    for (const std::optional<double>& value : {std::optional(level.value), level.low, level.high})
      if (value) all.push_back(*value);
  }
  return all;
}

/// Places the key above the chart, in as many rows as necessary.
void Drawing::place_key() {
  for (const ChartSeries& series : chart_.series)
    if (!series.name.empty() && !series.points.empty())
      key_.push_back(
          {.name = series.name, .style = series.style, .mark = series.mark, .line = series.stroke != Stroke::none});
  for (const ChartLevel& level : chart_.levels)
    if (!level.name.empty() && std::isfinite(level.value))
      key_.push_back({.name = level.name, .style = level.style, .line = true, .dashed = true});
  double at_x = left_, at_y = 12;
  for (KeyEntry& entry : key_) {
    entry.name = cut_to(entry.name, right_ - left_ - 26);
    if (at_x > left_ && at_x + entry.width() - 14 > right_) at_x = left_, at_y += kLineHeight;
    entry.x = at_x;
    entry.y = at_y;
    at_x += entry.width();
  }
  top_ = key_.empty() ? 12 : at_y + kLineHeight;
}

std::optional<double> Drawing::x(double value) const {
  const auto place = x_axis_.place(value);
  return place ? std::optional(left_ + *place * (right_ - left_)) : std::nullopt;
}

std::optional<double> Drawing::y(double value) const {
  const auto place = y_axis_.place(value);
  return place ? std::optional(bottom_ - *place * (bottom_ - top_)) : std::nullopt;
}

bool Drawing::is_empty() const {
  return std::ranges::none_of(chart_.series, [&](const ChartSeries& series) {
    return std::ranges::any_of(series.points, [&](const ChartPoint& point) { return x(point.x) && y(point.y); });
  });
}

void Drawing::draw_frame() {
  for (const Tick& tick : y_axis_.ticks()) {
    const auto at = y(tick.value);
    if (!at) continue;
    put("<path class=\"chart-grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", left_, *at, right_);
    put("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left_ - 6, *at + 4, markup_text(tick.text));
  }
  const double slot = (right_ - left_) / static_cast<double>(std::max<std::size_t>(x_axis_.ticks().size(), 1));
  for (const Tick& tick : x_axis_.ticks()) {
    const auto at = x(tick.value);
    if (!at) continue;
    put("<path class=\"chart-axis\" d=\"M{:.1f} {:.1f}v{:.1f}\"/>", *at, bottom_, kTickLength);
    const std::string text = chart_.x.categories.empty() ? tick.text : cut_to(tick.text, slot - 4);
    put("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", *at, bottom_ + 17, markup_text(text));
  }
  put("<path class=\"chart-axis\" d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\"/>\n", left_, top_, bottom_, right_);
  if (const auto gap = y_axis_.gap()) {
    const double at = bottom_ - *gap * (bottom_ - top_);
    put("<path class=\"chart-break\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", left_, at, right_);
  }
  put("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", (left_ + right_) / 2,
      static_cast<double>(chart_.height) - 8, markup_text(chart_.x.label));
  put("<text transform=\"translate(14 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n", (top_ + bottom_) / 2,
      markup_text(chart_.y.label));
}

void Drawing::draw_level(const ChartLevel& level) {
  const bool is_y = level.of == ChartLevel::Across::y;
  const auto at = is_y ? y(level.value) : x(level.value);
  if (!at) return;
  put("<g class=\"{}\">", markup_text(level.style));
  const auto low = level.low ? (is_y ? y(*level.low) : x(*level.low)) : std::nullopt;
  const auto high = level.high ? (is_y ? y(*level.high) : x(*level.high)) : std::nullopt;
  if (low && high) {
    const double from = std::min(*low, *high), length = std::fabs(*high - *low);
    if (is_y)
      put("<rect class=\"chart-band\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>", left_, from,
          right_ - left_, length);
    else
      put("<rect class=\"chart-band\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>", from, top_,
          length, bottom_ - top_);
  }
  if (is_y)
    put("<path class=\"chart-level\" d=\"M{:.1f} {:.1f}H{:.1f}\"/></g>\n", left_, *at, right_);
  else
    put("<path class=\"chart-level\" d=\"M{:.1f} {:.1f}V{:.1f}\"/></g>\n", *at, top_, bottom_);
}

void Drawing::draw_line(const ChartSeries& series) {
  std::string path;
  bool is_down = false;
  for (const ChartPoint& point : series.points) {
    const auto at_x = x(point.x), at_y = y(point.y);
    if (at_x && at_y) {
      const auto to = std::back_inserter(path);
      if (!is_down)
        fmt::format_to(to, "M{:.1f} {:.1f}", *at_x, *at_y);
      else if (series.stroke == Stroke::steps)
        fmt::format_to(to, "H{:.1f}V{:.1f}", *at_x, *at_y);
      else
        fmt::format_to(to, "L{:.1f} {:.1f}", *at_x, *at_y);
    }
    is_down = at_x && at_y;
  }
  if (!path.empty()) put("<path class=\"chart-line\" d=\"{}\"/>", path);
}

void Drawing::draw_mark(Mark mark, double at_x, double at_y, const std::string& tip) {
  const std::string_view kind = mark == Mark::disc || mark == Mark::triangle ? "chart-mark" : "chart-open";
  const std::string inside = tip.empty() ? "" : fmt::format("<title>{}</title>", markup_text(tip));
  if (mark == Mark::disc || mark == Mark::ring)
    put("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.8\">{}</circle>", kind, at_x, at_y, inside);
  else if (mark != Mark::none)
    put("<path class=\"{}\" d=\"M{:.1f} {:.1f}l4.6 8.2h-9.2z\">{}</path>", kind, at_x, at_y - 5, inside);
}

void Drawing::draw_points(const ChartSeries& series) {
  for (const ChartPoint& point : series.points) {
    const auto at_x = x(point.x), at_y = y(point.y);
    if (!at_x || !at_y) continue;
    const auto low = point.low ? y(*point.low) : std::nullopt, high = point.high ? y(*point.high) : std::nullopt;
    if (low && high)
      put("<path class=\"chart-bar\" d=\"M{0:.1f} {1:.1f}h8m-4 0V{2:.1f}m-4 0h8\"/>", *at_x - 4, *low, *high);
    draw_mark(series.mark, *at_x, *at_y, point.tip);
  }
}

void Drawing::draw_key() {
  for (const KeyEntry& entry : key_) {
    put("<g class=\"{}\">", markup_text(entry.style));
    if (entry.line)
      put("<path class=\"{}\" d=\"M{:.1f} {:.1f}h20\"/>", entry.dashed ? "chart-level" : "chart-line", entry.x,
          entry.y - 4);
    draw_mark(entry.mark, entry.x + 10, entry.y - 4, "");
    put("</g><text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", entry.x + 26, entry.y, markup_text(entry.name));
  }
}

std::string Drawing::svg() {
  put("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" role=\"img\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\"><title>{2}</title>\n",
      chart_.width, chart_.height, markup_text(chart_.title));
  draw_frame();
  if (is_empty())
    put("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">nothing to show</text>\n", (left_ + right_) / 2,
        (top_ + bottom_) / 2);
  for (const ChartLevel& level : chart_.levels) draw_level(level);
  for (const ChartSeries& series : chart_.series) {
    put("<g class=\"{}\">", markup_text(series.style));
    if (series.stroke != Stroke::none) draw_line(series);
    draw_points(series);
    put("</g>\n");
  }
  draw_key();
  return svg_ + "</svg>\n";
}

}  // namespace

std::string svg_of(const Chart& chart) { return Drawing(chart).svg(); }

std::string_view chart_style() noexcept {
  return ".chart { max-width: 100%; height: auto; }\n"
         ".chart text { font: 12px sans-serif; fill: var(--ink); }\n"
         ".chart-grid { stroke: var(--faint); fill: none; }\n"
         ".chart-axis { stroke: var(--ink); fill: none; }\n"
         ".chart-break { stroke: var(--ink); fill: none; stroke-dasharray: 2 3; }\n"
         ".chart-line { stroke: currentColor; fill: none; stroke-width: 1.6; }\n"
         ".chart-level { stroke: currentColor; fill: none; stroke-width: 1.6; stroke-dasharray: 6 4; }\n"
         ".chart-band { fill: currentColor; opacity: 0.18; }\n"
         ".chart-bar { stroke: currentColor; fill: none; stroke-width: 1.4; }\n"
         ".chart-mark { fill: currentColor; fill-opacity: 0.85; stroke: currentColor; }\n"
         ".chart-open { fill: none; stroke: currentColor; stroke-width: 1.4; pointer-events: all; }\n";
}

}  // namespace parshall::tester
