// SPDX-License-Identifier: Apache-2.0
#include "base/figures/plot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace parshall::lab {
namespace {

using ::testing::HasSubstr;

const std::vector<Column> kColumns{
    {"flows", "flows", 0, true}, {"zipf", "zipf", 1, true}, {"table", "table"},    {"ns", "ns"},
    {"low_ns", "low"},           {"high_ns", "high"},       {"memory_bytes", "MB"}};

Part part(std::uint64_t flows, double zipf) {
  const double f = static_cast<double>(flows);
  return {
      .rows = {{flows, zipf, "linear", f, f - 1, f + 2, 10 * flows}, {flows, zipf, "chained", 2 * f, f, 3 * f, Cell()}},
      .verdict = ""};
}

std::vector<std::string> series_names(const Plot& plot) {
  std::vector<std::string> all;
  for (const Series& series : plot.series) all.push_back(series.name);
  return all;
}

TEST(Plot, GoesAlongTheFirstCommonColumnThatVaries) {
  const auto plot = plot_of("tables", kColumns, std::vector{part(200, 0), part(100, 0)}, {});
  ASSERT_TRUE(plot) << plot.error().message;
  EXPECT_EQ(plot->x_label, "flows");
  EXPECT_EQ(plot->y_label, "ns");
  EXPECT_THAT(series_names(*plot), ::testing::ElementsAre("linear", "chained"));
  const Point& first = plot->series[0].points[0];
  EXPECT_EQ(first.x, 100) << "sorted";
  EXPECT_EQ(first.y, 100);
  EXPECT_EQ(first.low, 99);
  EXPECT_EQ(first.high, 102);
}

TEST(Plot, HasASeriesForWhateverElseVaries) {
  const auto plot = plot_of("tables", kColumns, std::vector{part(1, 0), part(2, 0), part(1, 1.5), part(2, 1.5)}, {});
  ASSERT_TRUE(plot);
  EXPECT_THAT(series_names(*plot),
              ::testing::ElementsAre("linear, zipf 0", "chained, zipf 0", "linear, zipf 1.5", "chained, zipf 1.5"));
}

TEST(Plot, DrawsTheColumnsThatAreAskedForAndLeavesOutWhatHasNoNumber) {
  const std::vector parts{part(1, 0), part(2, 0)};
  const auto plot = plot_of("tables", kColumns, parts, {.x = "memory_bytes", .y = "high_ns"});
  ASSERT_TRUE(plot);
  EXPECT_THAT(series_names(*plot), ::testing::ElementsAre("linear")) << "the other has no memory";
  EXPECT_EQ(plot->series[0].points.size(), 2u);
  EXPECT_EQ(plot->series[0].points[1].x, 20);
  const auto wrong = plot_of("tables", kColumns, parts, {.x = "colour", .y = ""});
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("no column \"colour\"; there are flows, zipf"));
  EXPECT_FALSE(plot_of("tables", kColumns, parts, {.x = "", .y = "table"}));
  EXPECT_FALSE(plot_of("tables", kColumns, {}, {}));
}

TEST(Plot, IsRefusedWithWhatToDoAboutIt) {
  EXPECT_THAT(cannot_draw("tables.pdf")->message, HasSubstr(".svg or .png"));
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  const auto error = cannot_draw("tables.svg");
  const auto drawn = draw(*plot_of("tables", kColumns, std::vector{part(1, 0)}, {}), "tables.svg");
  ::setenv("PATH", path.c_str(), 1);
  ASSERT_TRUE(error);
  EXPECT_THAT(error->message, HasSubstr("apt-get install gnuplot-nox"));
  ASSERT_TRUE(drawn);
  EXPECT_EQ(drawn->message, error->message);
}

TEST(Plot, IsAFileThatNamesEverySeries) {
  const auto folder = std::filesystem::temp_directory_path() / "parshall-plot-test";
  std::filesystem::create_directories(folder);
  const std::string path = folder / "tables.svg";
  // gnuplot is optional: the program says what to install, which has a test of its own, and measures all the same.
  if (const auto error = cannot_draw(path)) GTEST_SKIP() << error->message;
  for (const auto& parts : {std::vector{part(100, 0)}, std::vector{part(100, 0), part(9000, 0)}}) {
    const auto plot = plot_of("tables \"here\"", kColumns, parts, {});
    ASSERT_TRUE(plot);
    const auto error = draw(*plot, path);
    ASSERT_FALSE(error) << error->message;
    std::stringstream svg;
    svg << std::ifstream(path).rdbuf();
    EXPECT_THAT(svg.str(), ::testing::AllOf(HasSubstr("<svg"), HasSubstr("linear"), HasSubstr("chained")));
  }
  EXPECT_TRUE(draw(*plot_of("tables", kColumns, std::vector{part(1, 0)}, {}), folder / "no/such/folder.svg"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace parshall::lab
