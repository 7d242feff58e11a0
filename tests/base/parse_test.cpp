// SPDX-License-Identifier: Apache-2.0
#include "base/parse.hpp"

#include <gtest/gtest.h>

namespace parshall {
namespace {

TEST(ParseCount, PowersOfTenAndOfTwoAreToldApart) {
  EXPECT_EQ(parse_count("0"), 0u);
  EXPECT_EQ(parse_count("65536"), 65536u);
  EXPECT_EQ(parse_count("64k"), 64'000u);
  EXPECT_EQ(parse_count("64K"), 64'000u);
  EXPECT_EQ(parse_count("64Ki"), 65'536u);
  EXPECT_EQ(parse_count("1M"), 1'000'000u);
  EXPECT_EQ(parse_count("1Mi"), 1u << 20);
  EXPECT_EQ(parse_count("2G"), 2'000'000'000u);
  EXPECT_EQ(parse_count("1Gi"), 1u << 30);
  EXPECT_EQ(parse_count("1.5k"), 1'500u);
}

TEST(ParseCount, WhatIsNoCountIsRefused) {
  for (const char* text : {"", " ", "k", "-1", "-0.1", "1 k", "1kk", "1ki", "1m", "nan", "inf", "infinity", "1e9999",
                           "64Kib", "1,000", "9e18k", "9223372036854775808k"})
    EXPECT_FALSE(parse_count(text)) << '"' << text << '"';
}

TEST(ParseCount, NeitherSignsNorSpacesNorHexadecimalDigitsAreANumber) {
  for (const char* text : {"+5", " 5", "\t5", "-0", "0x10", "+0x10", " 0X10", "0x1p3", "+.5k"})
    EXPECT_FALSE(parse_count(text)) << '"' << text << '"';
  EXPECT_EQ(parse_count(".5k"), 500u);
}

TEST(ParseCount, NothingHidesBehindAZeroByte) {
  EXPECT_FALSE(parse_count(std::string("5\0", 2)));
  EXPECT_FALSE(parse_count(std::string("5k\0 and more", 12)));
  EXPECT_FALSE(parse_duration_ns(std::string("5s\0x", 4)));
}

TEST(ParseCount, WholeNumbersAreTakenToTheLastDigit) {
  EXPECT_EQ(parse_count("9007199254740993"), 9'007'199'254'740'993u) << "2^53 + 1 has no double";
  EXPECT_EQ(parse_count("9223372036854775807"), 9'223'372'036'854'775'807u);
}

TEST(ParseDuration, EveryUnitHasItsFactor) {
  EXPECT_EQ(parse_duration_ns("0"), 0u);
  EXPECT_EQ(parse_duration_ns("10"), 10'000'000'000u);
  EXPECT_EQ(parse_duration_ns("10s"), 10'000'000'000u);
  EXPECT_EQ(parse_duration_ns("1.5s"), 1'500'000'000u);
  EXPECT_EQ(parse_duration_ns("250ms"), 250'000'000u);
  EXPECT_EQ(parse_duration_ns("7us"), 7'000u);
  EXPECT_EQ(parse_duration_ns("7ns"), 7u);
  EXPECT_EQ(parse_duration_ns("2m"), 120'000'000'000u);
  EXPECT_EQ(parse_duration_ns("2min"), 120'000'000'000u);
  EXPECT_EQ(parse_duration_ns("1h"), 3'600'000'000'000u);
}

TEST(ParseDuration, WhatIsNoDurationOrBeyond292YearsIsRefused) {
  for (const char* text : {"", "s", "-1s", "1x", "1 s", "1sec", "nan", "inf", "9223372037", "1e30h"})
    EXPECT_FALSE(parse_duration_ns(text)) << '"' << text << '"';
  EXPECT_TRUE(parse_duration_ns("9223372036"));
}

}  // namespace
}  // namespace parshall
