// SPDX-License-Identifier: Apache-2.0
#include "traffic/traffic_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <charconv>
#include <string>

namespace parshall {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string problem_of(const std::string& text, TrafficAbilities can = TrafficSpec::kAll) {
  const auto spec = TrafficSpec::parse(text, can);
  return spec ? "" : spec.error().message;
}

std::string in_decimal(double value) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed).ptr};
}

TEST(TrafficSettings, TakeNumbersWithinTheBoundsThatTheyNameAndNoOthers) {
  int bounded = 0;
  for (const TrafficSetting& setting : traffic_settings()) {
    SCOPED_TRACE(std::string(setting.name));
    const std::size_t dots = setting.values.find("..");
    TrafficSpec spec;
    EXPECT_FALSE(setting.set(spec, ""));
    EXPECT_FALSE(setting.set(spec, "1x"));
    EXPECT_FALSE(setting.set(spec, "-1"));
    if (dots == setting.values.npos || setting.name == "seed" || setting.values.find('|') != setting.values.npos)
      continue;
    ++bounded;
    const double least = std::stod(std::string(setting.values.substr(0, dots)));
    const double most = std::stod(std::string(setting.values.substr(dots + 2)));
    EXPECT_TRUE(setting.set(spec, in_decimal(least)));
    EXPECT_TRUE(setting.set(spec, in_decimal(most)));
    EXPECT_FALSE(setting.set(spec, in_decimal(most + 1)));
    EXPECT_FALSE(setting.set(spec, in_decimal(least - 1)));
  }
  EXPECT_GE(bounded, 9);
}

TEST(TrafficSpec, SaysWhatItDoesNotUnderstandAndWhatToDo) {
  EXPECT_THAT(problem_of("flows=5,sizes=64"), AllOf(HasSubstr("\"sizes=64\""), HasSubstr("size, dist")));
  EXPECT_THAT(problem_of("flows"), HasSubstr("\"flows\""));
  EXPECT_THAT(problem_of("flows=0"), HasSubstr("1..268435456"));
  EXPECT_THAT(problem_of("dist=normal"), HasSubstr("zipf:EXPONENT"));
  EXPECT_THAT(problem_of("flows=5,packets=9,flows=6"), HasSubstr("flows is given twice"));
  EXPECT_EQ(problem_of(""), "");
}

TEST(TrafficSpec, IsRefusedWhereItsPlayerCannotPlayIt) {
  for (const char* text : {"dist=trains:5", "flood=0.5", "pace=1000"}) {
    EXPECT_EQ(problem_of(text), "");
    EXPECT_THAT(problem_of(text, {}), HasSubstr("leave out")) << text;
  }
  EXPECT_EQ(problem_of("flood=0.5", {.flood = true}), "");
  EXPECT_NE(problem_of("flood=0.5", {.pace = true, .trains = true}), "");
}

}  // namespace
}  // namespace parshall
