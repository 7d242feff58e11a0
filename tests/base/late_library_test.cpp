// SPDX-License-Identifier: Apache-2.0
#include "base/late_library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace parshall {
namespace {

using testing::HasSubstr;

TEST(LateLibrary, HandsOutFunctions) {
  LateLibrary library("libc.so.6", "a test");
  const auto length = library.function<decltype(std::strlen)>("strlen");
  ASSERT_FALSE(library.problem());
  EXPECT_EQ(length("seven"), std::strlen("seven"));
}

TEST(LateLibrary, ThatIsNotInstalledIsNamedWithItsPackage) {
  LateLibrary library("libparshall-none.so.4", "a test");
  EXPECT_EQ(library.function<void()>("any"), nullptr);
  ASSERT_TRUE(library.problem());
  EXPECT_THAT(library.problem()->message, HasSubstr("a test needs libparshall-none.so.4"));
  EXPECT_THAT(library.problem()->message, HasSubstr("libparshall-none4"));
  EXPECT_THAT(library.problem()->message, HasSubstr("No such file"));
}

TEST(LateLibrary, NamesTheFirstFunctionThatItLacks) {
  LateLibrary library("libc.so.6", "a test");
  EXPECT_EQ(library.function<void()>("parshall_none"), nullptr);
  EXPECT_EQ(library.function<void()>("parshall_more"), nullptr);
  EXPECT_NE(library.function<decltype(std::strlen)>("strlen"), nullptr);
  ASSERT_TRUE(library.problem());
  EXPECT_THAT(library.problem()->message, HasSubstr("libc.so.6 has no function parshall_none"));
}

}  // namespace
}  // namespace parshall
