// SPDX-License-Identifier: Apache-2.0
#include "tester/chart/markup.hpp"

#include <gtest/gtest.h>

namespace parshall::tester {
namespace {

TEST(MarkupText, HasNothingThatMeansAnything) {
  EXPECT_EQ(markup_text("<a href=\"x\" b='y'>&amp;"), "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;amp;");
  EXPECT_EQ(markup_text(""), "");
  EXPECT_EQ(markup_text("tab\tline\n"), "tab\tline\n");
}

TEST(MarkupText, KeepsCharactersAndReplacesWhatIsNone) {
  const std::string replaced = "\xEF\xBF\xBD";
  EXPECT_EQ(markup_text("\xC3\xA4 \xE2\x82\xAC \xF0\x9F\x98\x80"), "\xC3\xA4 \xE2\x82\xAC \xF0\x9F\x98\x80");
  EXPECT_EQ(markup_text(std::string_view("a\0b", 3)), "a" + replaced + "b");
  EXPECT_EQ(markup_text("\x1B[31m"), replaced + "[31m");
  EXPECT_EQ(markup_text("\xFF"), replaced);
  EXPECT_EQ(markup_text("\xC3"), replaced) << "cut";
  EXPECT_EQ(markup_text("\xC3<"), replaced + "&lt;");
  EXPECT_EQ(markup_text("\xC0\xAF"), replaced + replaced) << "longer than it has to be";
  EXPECT_EQ(markup_text("\xE0\x82\xBF"), replaced + replaced + replaced) << "likewise";
  EXPECT_EQ(markup_text("\xED\xA0\x80"), replaced + replaced + replaced) << "a surrogate";
  EXPECT_EQ(markup_text("\xEF\xBF\xBF"), replaced + replaced + replaced) << "U+FFFF";
}

}  // namespace
}  // namespace parshall::tester
