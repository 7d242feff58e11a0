// SPDX-License-Identifier: Apache-2.0
#include "tester/chart/chart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>

namespace parshall::tester {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::size_t count(const std::string& svg, const std::string& text) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = svg.find(text, at)) != std::string::npos; ++at) ++found;
  return found;
}

/// Every number of every coordinate is one, and within the picture.
void expect_sound(const std::string& svg, const Chart& chart) {
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  EXPECT_EQ(svg.find("<svg "), 0);
  EXPECT_THAT(svg, HasSubstr("</svg>"));
  const std::regex circle("cx=\"([-0-9.]+)\" cy=\"([-0-9.]+)\"");
  for (auto at = std::sregex_iterator(svg.begin(), svg.end(), circle); at != std::sregex_iterator(); ++at) {
    const double x = std::stod((*at)[1]), y = std::stod((*at)[2]);
    EXPECT_TRUE(x >= 0 && x <= chart.width && y >= 0 && y <= chart.height) << x << " " << y;
  }
}

Chart chart_of(std::vector<ChartPoint> points) {
  return {.title = "title",
          .x = {.label = "x (s)"},
          .y = {.label = "y (pps)"},
          .series = {{.name = "one", .style = "kept", .stroke = Stroke::straight, .points = std::move(points)}}};
}

TEST(Chart, HasAMarkForEachPointAndWhatItIsCalled) {
  const Chart chart = chart_of({{.x = 1, .y = 2, .tip = "first"}, {.x = 2, .y = 4}});
  const std::string svg = svg_of(chart);
  expect_sound(svg, chart);
  EXPECT_EQ(count(svg, "<circle"), 3) << "and one in the key";
  for (const char* text : {">x (s)<", ">y (pps)<", ">one<", "<title>title</title>", "<title>first</title>"})
    EXPECT_THAT(svg, HasSubstr(text));
  EXPECT_THAT(svg, HasSubstr("class=\"kept\""));
}

TEST(Chart, OfNothingSaysSo) {
  for (const auto& points : {std::vector<ChartPoint>{}, {{.x = NAN, .y = 1}}, {{.x = 1, .y = INFINITY}}})
    for (const Scale scale : {Scale::linear, Scale::logarithmic, Scale::logarithmic_or_zero}) {
      Chart chart = chart_of(points);
      chart.y.scale = scale;
      const std::string svg = svg_of(chart);
      expect_sound(svg, chart);
      EXPECT_THAT(svg, HasSubstr("nothing to show"));
    }
  const Chart none;
  expect_sound(svg_of(none), none);
}

TEST(Chart, OfOnePointShowsIt) {
  for (const Scale scale : {Scale::linear, Scale::logarithmic}) {
    Chart chart = chart_of({{.x = 3, .y = 1e6}});
    chart.x.scale = chart.y.scale = scale;
    const std::string svg = svg_of(chart);
    expect_sound(svg, chart);
    EXPECT_THAT(svg, Not(HasSubstr("nothing to show")));
    EXPECT_EQ(count(svg, "<circle"), 2);
  }
}

TEST(Chart, LeavesOutWhatHasNoPlaceAndInterruptsItsLine) {
  const Chart chart =
      chart_of({{.x = 1, .y = 1}, {.x = 2, .y = 2}, {.x = 3, .y = NAN}, {.x = 4, .y = 3}, {.x = 5, .y = 4}});
  const std::string svg = svg_of(chart);
  expect_sound(svg, chart);
  EXPECT_EQ(count(svg, "<circle"), 4 + 1);
  std::smatch line;
  ASSERT_TRUE(std::regex_search(svg, line, std::regex("chart-line\" d=\"([^\"]+)\"")));
  EXPECT_EQ(count(line[1], "M"), 2);
  EXPECT_EQ(count(line[1], "L"), 2);
}

TEST(Chart, DrawsStepsBarsAndLevels) {
  Chart chart = chart_of({{.x = 1, .y = 2, .low = 1, .high = 3}, {.x = 2, .y = 2, .low = NAN, .high = 3}});
  chart.series[0].stroke = Stroke::steps;
  chart.levels = {{.name = "mean", .style = "goal", .value = 2, .low = 1.5, .high = 2.5},
                  {.name = "here", .style = "goal", .value = 1.5, .of = ChartLevel::Across::x},
                  {.name = "nowhere", .style = "goal", .value = NAN}};
  const std::string svg = svg_of(chart);
  expect_sound(svg, chart);
  EXPECT_EQ(count(svg, "chart-bar"), 1);
  EXPECT_EQ(count(svg, "chart-band"), 1);
  EXPECT_EQ(count(svg, "chart-level"), 2 + 2) << "and two in the key";
  EXPECT_THAT(svg, Not(HasSubstr("nowhere")));
}

TEST(Chart, EscapesAllText) {
  Chart chart = chart_of({{.x = 0, .y = 2, .tip = "<tip>"}});
  chart.title = "<title&>";
  chart.x.label = chart.y.label = "<label>";
  chart.x.categories = {"<category>"};
  chart.series[0].name = "<name>";
  chart.series[0].style = "a\" onload=\"x";
  const std::string svg = svg_of(chart);
  for (const char* text : {"<tip>", "<title&>", "<label>", "<category>", "<name>", "onload=\"x"})
    EXPECT_THAT(svg, Not(HasSubstr(text)));
  for (const char* text : {"&lt;tip&gt;", "&lt;title&amp;&gt;", "&lt;label&gt;", "&lt;category&gt;", "&lt;name&gt;"})
    EXPECT_THAT(svg, HasSubstr(text));
}

TEST(Chart, CutsNamesThatAreTooLong) {
  Chart chart = chart_of({{.x = 0, .y = 1}, {.x = 1, .y = 1}});
  chart.x.categories = {std::string(200, 'a'), "b"};
  chart.series[0].name = std::string(400, 'n');
  const std::string svg = svg_of(chart);
  EXPECT_THAT(svg, Not(HasSubstr(std::string(60, 'a'))));
  EXPECT_THAT(svg, Not(HasSubstr(std::string(100, 'n'))));
  EXPECT_THAT(svg, HasSubstr("aaa\u2026"));
}

}  // namespace
}  // namespace parshall::tester
