// SPDX-License-Identifier: Apache-2.0
#include "classify/toml_text.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace parshall {
namespace {

TEST(TomlText, EscapesWhatWouldEndAString) {
  EXPECT_EQ(toml_string("a \"b\" \\ c"), R"("a \"b\" \\ c")");
  EXPECT_EQ(toml_string("\n\x7F"), R"("\u000A\u007F")");
  EXPECT_EQ(toml_string("Zürich"), "\"Zürich\"");
}

TEST(TomlText, ListsEveryDigitAndNoneForNaN) {
  EXPECT_EQ(listed({}), "[]");
  EXPECT_EQ(listed(std::vector{1.0, 1.0 / 3, std::numeric_limits<double>::quiet_NaN()}),
            "[1, 0.3333333333333333, \"none\"]");
}

}  // namespace
}  // namespace parshall
