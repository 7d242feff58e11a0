// SPDX-License-Identifier: Apache-2.0
#include "parshall/metrics_text.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace parshall {
namespace {

using Kind = MetricsText::Kind;

TEST(MetricsText, HasHelpAndTypeBeforeTheValuesOfAFamily) {
  MetricsText text;
  text.put("a_total", Kind::counter, "what it is", std::numeric_limits<std::uint64_t>::max());
  text.begin("b", Kind::gauge, "another");
  text.put(std::uint64_t{1}, {{"x", "1"}, {"y", "2"}});
  text.put(0.25, {{"x", "2"}});
  EXPECT_EQ(text.text(),
            "# HELP a_total what it is\n# TYPE a_total counter\na_total 18446744073709551615\n"
            "# HELP b another\n# TYPE b gauge\nb{x=\"1\",y=\"2\"} 1\nb{x=\"2\"} 0.25\n");
}

TEST(MetricsText, NumbersThatAreNoneAreWrittenAsPrometheusReadsThem) {
  MetricsText text;
  text.begin("x", Kind::gauge, "x");
  for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity()})
    text.put(value);
  EXPECT_EQ(text.text(), "# HELP x x\n# TYPE x gauge\nx NaN\nx +Inf\nx -Inf\n");
}

TEST(MetricsText, LabelsAreEscaped) {
  EXPECT_EQ(label_text(R"(C:\a"b)"), R"(C:\\a\"b)");
  EXPECT_EQ(label_text("a\nb"), R"(a\nb)");
  EXPECT_EQ(label_text(std::string("\0\x01\r\x7f", 4)), R"(\\x00\\x01\\x0d\\x7f)");
}

TEST(MetricsText, WhatIsUtf8StaysAndWhatIsNotIsEscapedByteByByte) {
  for (const char* const text : {"", "plain", "\xc3\xa9", "\xe2\x82\xac", "\xed\x9f\xbf", "\xee\x80\x80",
                                 "\xf0\x9f\x90\xa7", "\xf4\x8f\xbf\xbf", "a\xc2\xa0z"})
    EXPECT_EQ(label_text(text), text);
  EXPECT_EQ(label_text("\xff"), R"(\\xff)");
  EXPECT_EQ(label_text("a\xc2\x9bz"), R"(a\\xc2\\x9bz)") << "a control character";
  EXPECT_EQ(label_text("\x80z"), R"(\\x80z)") << "begins within a character";
  EXPECT_EQ(label_text("a\xc3"), R"(a\\xc3)") << "cut";
  EXPECT_EQ(label_text("\xe2\x82"), R"(\\xe2\\x82)") << "cut";
  EXPECT_EQ(label_text("\xe2\x82z"), R"(\\xe2\\x82z)") << "goes on as another";
  EXPECT_EQ(label_text("\xc0\xaf"), R"(\\xc0\\xaf)") << "longer than need be";
  EXPECT_EQ(label_text("\xe0\x9f\xbf"), R"(\\xe0\\x9f\\xbf)") << "longer than need be";
  EXPECT_EQ(label_text("\xf0\x8f\xbf\xbf"), R"(\\xf0\\x8f\\xbf\\xbf)") << "longer than need be";
  EXPECT_EQ(label_text("\xed\xa0\x80"), R"(\\xed\\xa0\\x80)") << "half of a pair";
  EXPECT_EQ(label_text("\xf4\x90\x80\x80"), R"(\\xf4\\x90\\x80\\x80)") << "beyond the last";
}

}  // namespace
}  // namespace parshall
