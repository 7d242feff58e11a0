// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "lab/tables/report.hpp"

namespace parshall::lab {
namespace {

using ::testing::HasSubstr;

TableRow row(std::size_t table, double low_ns, double median_ns, double high_ns, double rejected_share = 0,
             std::size_t kept = 15) {
  return {.table = &tables_under_test()[table],
          .of = {.traffic = "uniform", .flows = 100, .zipf = 0, .shape = {}},
          .cost = {.median_ns = median_ns, .low_ns = low_ns, .high_ns = high_ns, .kept = kept, .samples = 15},
          .memory_bytes = 1 << 20,
          .size = 100,
          .places = 256,
          .rejected_share = rejected_share,
          .mean_probes = 1.5};
}

TEST(Verdict, NamesNoWinnerWhereIntervalsOverlap) {
  const auto name = [](std::size_t table) { return std::string(tables_under_test()[table].name); };
  ASSERT_FALSE(tables_under_test()[2].whole_keys);
  const std::string cheapest = "cheapest of those that counted every flow exactly: ";
  EXPECT_EQ(verdict(std::vector{row(0, 1, 2, 3), row(3, 4, 5, 6)}), cheapest + name(0));
  EXPECT_EQ(verdict(std::vector{row(0, 4, 5, 6), row(3, 1, 2, 4)}),
            "no winner: the intervals of " + name(3) + ", " + name(0) + " overlap");
  EXPECT_EQ(verdict(std::vector{row(0, 1, 2, 3), row(3, 4, 5, 5.5), row(4, 2.5, 6, 9)}),
            "no winner: the intervals of " + name(0) + ", " + name(4) + " overlap")
      << "a wide interval behind a narrow one";
  EXPECT_EQ(verdict(std::vector{row(0, 7, 8, 9), row(3, 4, 5, 6), row(4, 1, 2, 3, 0.1)}), cheapest + name(3))
      << "one that rejected packets";
  EXPECT_EQ(verdict(std::vector{row(0, 7, 8, 9), row(2, 1, 2, 3), row(3, 4, 5, 6)}), cheapest + name(3))
      << "one that may merge flows";
  EXPECT_THAT(verdict(std::vector{row(0, 1, 2, 3), row(3, 1, 2, 3, 0.5)}), HasSubstr("no comparison"));
  EXPECT_THAT(verdict(std::vector{row(0, 1, 2, 3), row(3, 4, 5, 6, 0, 5)}),
              HasSubstr("5 undisturbed samples of " + name(3)));
}

TEST(Figures, AreTheSameInEveryFormat) {
  const std::vector<Column> columns{{"skew", "skew", 1, true}, {"name", "name"}, {"cost_ns", "ns"}, {"hidden", ""}};
  const Part part{.rows = {{1.5, "a, b", 2.25, std::uint64_t{7}}, {1.5, "c", Cell(), std::uint64_t{8}}},
                  .verdict = "a is best"};
  std::map<std::string_view, const FigureFormat*> formats;
  for (const FigureFormat& format : figure_formats()) formats[format.name] = &format;

  EXPECT_EQ(formats.at("text")->part("tables", columns, part),
            "\nskew 1.5\n"
            "name    ns\n"
            "a, b  2.25\n"
            "c\n"
            "a is best\n");
  EXPECT_EQ(formats.at("csv")->head(columns) + formats.at("csv")->part("tables", columns, part),
            "skew,name,cost_ns,hidden\n1.5,\"a, b\",2.25,7\n1.5,c,,8\n");
  const auto json = nlohmann::json::parse(formats.at("json")->part("tables", columns, part));
  EXPECT_EQ(json["experiment"], "tables");
  EXPECT_EQ(json["skew"], 1.5);
  EXPECT_EQ(json["rows"][0], nlohmann::json({{"name", "a, b"}, {"cost_ns", 2.25}, {"hidden", 7}}));
  EXPECT_TRUE(json["rows"][1]["cost_ns"].is_null());
  EXPECT_FALSE(json["machine"]["compiler"].get<std::string>().empty());
}

TEST(TableReport, HasACellForEveryColumn) {
  const Part part = table_part(std::vector{row(0, 1, 2, 3), row(2, 4, 5, 6, 0.25)});
  ASSERT_EQ(part.rows.size(), 2u);
  EXPECT_EQ(part.rows[0].size(), table_columns().size());
  const auto at = [&](std::string_view name) {
    return std::ranges::find(table_columns(), name, &Column::name) - table_columns().begin();
  };
  EXPECT_EQ(part.rows[1][at("ns")], Cell(5.0));
  EXPECT_EQ(part.rows[1][at("rejected_share")], Cell(0.25));
  EXPECT_EQ(part.rows[0][at("rejected_share")], Cell());
}

}  // namespace
}  // namespace parshall::lab
