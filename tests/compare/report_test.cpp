// SPDX-License-Identifier: Apache-2.0
#include "compare/report/report.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "verify/parquet_rows.hpp"
#include "verify/runs.hpp"

namespace parshall {
namespace {

using Json = nlohmann::json;

/// A comparison with a flow of which everything is known, and one of which no packet arrived.
class ComparedReport : public ::testing::Test {
 protected:
  ComparedReport() {
    up_.name = "up", up_.missed = 2;
    down_.name = "down", down_.missed = 1;
    ComparedFlow whole;
    whole.key.ip_version = 4;
    whole.key.protocol = 6;
    whole.key.address = {10, 0, 0, 1, 192, 0, 2, 7};
    whole.key.src_port_bytes = {0x9c, 0x40};
    whole.key.dst_port_bytes = {1, 187};
    whole.way = Way::back;
    whole.first_ns = 1'700'000'000'000'000'001, whole.last_ns = whole.first_ns + 5;
    whole.passed = {.sent = 10, .received = 9, .delivered = 8, .lost = 2, .duplicated = 1, .reordered = 3, .alike = 4};
    whole.passed.delays = {.packets = 8,
                           .least = -5,
                           .p50 = 6,
                           .p90 = 7,
                           .p99 = 8,
                           .most = 9,
                           .mean = 6.25,
                           .samples = 8,
                           .mean_error = 0.5,
                           .variation = 1.5};
    ComparedFlow vanished = whole;
    vanished.key.ip_version = 6;
    vanished.passed = {.received = 1, .extra = 1};
    found_.flows = {whole, vanished};
  }

  std::string written(const std::string& format) {
    const std::string path = ::testing::TempDir() + "compared";
    {
      auto output = Output::open(path);
      const CompareReport report{.format = format};
      EXPECT_FALSE(report.write({up_, down_, found_}, **output));
      (*output)->finish();
      EXPECT_FALSE((*output)->error());
    }
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    std::filesystem::remove(path);
    return text.str();
  }

  Tap up_, down_;
  Comparison found_;
};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

TEST_F(ComparedReport, HasTheSameValuesInJsonAndCsv) {
  const Json json = Json::parse(written("json"));
  const auto lines = split(written("csv"), '\n');
  ASSERT_EQ(lines.size(), 3u);
  const auto names = split(lines[0], ',');
  for (std::size_t flow = 0; flow < 2; ++flow) {
    auto values = split(lines[flow + 1], ',');
    values.resize(names.size());
    const Json& object = json["flows"][flow];
    ASSERT_EQ(object.size(), names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Json& value = object.at(names[i]);
      if (value.is_null())
        EXPECT_EQ(values[i], "") << names[i];
      else if (value.is_number_float())
        EXPECT_EQ(std::stod(values[i]), value.get<double>()) << names[i];
      else
        EXPECT_EQ(values[i], value.is_string() ? value.get<std::string>() : value.dump()) << names[i];
    }
  }
  const Json& whole = json["flows"][0];
  EXPECT_EQ(whole["src_ip"], "10.0.0.1");
  EXPECT_EQ(whole["dst_port"], 443);
  EXPECT_EQ(whole["way"], "back");
  EXPECT_EQ(whole["packets_lost_at_least"], 0) << "UP, which receives, missed two";
  EXPECT_EQ(whole["packets_lost_at_most"], 3) << "DOWN, which sends, missed one";
  EXPECT_EQ(whole["delay_min_ns"], -5);
  EXPECT_EQ(whole["delay_mean_error_ns"], 0.5);
  EXPECT_TRUE(json["flows"][1]["delay_min_ns"].is_null());
}

TEST_F(ComparedReport, HasTheSameValuesInParquet) {
  const std::string file = written("parquet");
  constexpr std::array<std::string_view, 5> kColumns{"src_ip", "way", "first", "packets_lost", "delay_min_ns"};
  std::map<std::string, std::string> metadata;
  std::vector<ParquetRow> rows;
  const std::string problem = read_parquet_rows({reinterpret_cast<const unsigned char*>(file.data()), file.size()},
                                                kColumns, metadata, [&](const ParquetRow& row) {
                                                  rows.push_back(row);
                                                  return true;
                                                });
  EXPECT_EQ(problem, "");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].texts[0], "10.0.0.1");
  EXPECT_EQ(rows[0].texts[1], "back");
  EXPECT_EQ(rows[0].numbers[2], 1'700'000'000'000'000'001);
  EXPECT_EQ(rows[0].numbers[3], 2);
  EXPECT_EQ(static_cast<std::int64_t>(rows[0].numbers[4]), -5);
  EXPECT_FALSE(rows[1].present[2]);
  EXPECT_FALSE(rows[1].present[4]);
}

TEST_F(ComparedReport, ShowsOnlyFlowsThatDidNotPassWholly) {
  found_.flows[1].passed = {.sent = 1, .received = 1, .delivered = 1};
  const CompareReport report{.format = "json", .only = "lossy"};
  EXPECT_EQ(report.flows(found_).size(), 1u);
}

}  // namespace
}  // namespace parshall
